// SPDX-License-Identifier: MIT
// What changes during a simulation, as plain data.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/machine/completion_queue.h"
#include "sim/machine/core_layout.h"

namespace occupipe::sim {

inline constexpr std::int32_t no_warp = -1;
inline constexpr std::int64_t no_group = -1;
inline constexpr int queue_step = 4;  // queue_next is filled up to a multiple

struct CoreState {
    std::int64_t now = 0;  // [ticks]

    std::vector<Head> heads;             // per warp and stream (CoreLayout::first_stream)
    std::vector<std::uint64_t> credits;  // per warp, stream and word (CoreLayout::first_credit)

    // Per warp.
    std::vector<std::uint64_t> ready;           // set of streams whose head may issue
    std::vector<std::int32_t> next_in_order;    // Order::in_order: the only stream that may issue
    std::vector<std::int32_t> position;         // in policy order
    std::vector<std::int32_t> warp_at;          // position → warp
    std::vector<std::int64_t> barriers_issued;  // per warp and channel
    std::vector<std::int32_t> barrier_stream;   // per warp and channel: the last one issued

    // Per scheduler and subsystem: set of positions of the warps with a ready head there.
    std::vector<std::uint64_t> ready_warps;

    // Per slot.
    std::vector<std::int64_t> group;              // number of the group there, or no_group
    std::vector<std::int64_t> unfinished;         // instructions of that group
    std::vector<std::int64_t> barriers_released;  // per slot and channel
    std::vector<std::int32_t> barrier_arrivals;   // per slot and channel: warps at the next one
    std::vector<std::int32_t> age_order;          // resident slots, oldest group first

    // Per scheduler and subsystem [ticks]; a unit of scope core has the same in all schedulers.
    std::vector<std::int64_t> subsystem_free_at;

    // Per scheduler, with an issue limit: the end of the cycle in which it issued last [ticks],
    // what it may still issue before, and when it may issue again, as far as that is known [ticks].
    std::vector<std::int64_t> window_end;
    std::vector<std::int64_t> window_left;
    std::vector<std::int64_t> open_at;

    // Per scheduler: not before this can it issue; exact but where another one took a shared unit.
    std::vector<std::int64_t> scheduler_next;
    std::vector<std::int32_t> last_warp;  // per scheduler: the one that issued last, or no_warp
    std::vector<std::int32_t> last_subsystem;  // per scheduler: the one that it issued to last
    std::vector<std::int32_t> last_to;     // per scheduler and subsystem: the warp that issued last
    std::vector<std::int32_t> last_grant;  // per subsystem: the scheduler that issued there last
    std::vector<CompletionQueue> queues;   // one per CoreLayout::queues
    std::vector<std::int64_t> queue_next;  // their next_time(), contiguous
    std::int64_t next_completion = CompletionQueue::never;  // the least of these
    std::int32_t next_queue = 0;                            // index of the queue with that time

    // Per CoreLayout::waiting_lines: the outstanding instructions, when each will complete.
    // Past ones may still be included.
    std::vector<CompletionQueue> waiting;

    // Totals.
    std::int64_t launched = 0;  // groups
    std::int64_t issued_total = 0;
    std::vector<std::int64_t> subsystem_busy;  // per scheduler and subsystem: Σλ it caused [ticks]

    explicit CoreState(const CoreLayout& layout);
};

// Positions follow the age of the groups. Freed slots get the positions behind all others, in slot
// order, which is the order in which they take the next groups. `State`: either engine's.
template <class State>
void place_by_age(State& state, const CoreLayout& layout) {
    std::int32_t position = 0;
    const auto place = [&](std::int32_t slot) {
        for (std::int32_t index = 0; index < layout.group_warps; ++index) {
            const std::int32_t warp = slot * layout.group_warps + index;
            state.position[warp] = position;
            state.warp_at[position++] = warp;
        }
    };
    for (const std::int32_t slot : state.age_order) place(slot);
    for (std::int32_t slot = 0; slot < layout.slots; ++slot)
        if (state.group[slot] == no_group) place(slot);
}

}  // namespace occupipe::sim
