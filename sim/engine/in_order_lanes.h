// SPDX-License-Identifier: MIT
// The in-order engine's state as its vector loop has it (in_order_lanes_loop.h): a lane of 32 bits
// for each warp, those of one scheduler side by side.
//
// What a scheduler does next is the least of its lanes' keys:
//   bits 10 to 31  when the warp's head can issue [ticks since `base`]
//   bits 7 to 9    how far on its subsystem is in the scheduler's ring of subsystems
//   bits 0 to 6    how far on the warp is in policy order
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/machine/core_layout.h"

namespace occupipe::sim {

// Whether this processor has the vectors that in_order_lanes_avx2.cpp is compiled for.
bool has_wide_vectors();
// The same for in_order_lanes_avx512.cpp.
bool has_wider_vectors();

struct Lanes {
    static constexpr int time_shift = 10;
    static constexpr std::uint32_t last_time = (std::uint32_t{1} << 22) - 1;
    static constexpr std::uint32_t idle = last_time << time_shift;  // no head that could issue
    // Times of less than `rebase_at` + `longest` + one window lie below last_time.
    static constexpr std::int64_t longest = std::int64_t{1} << 19;  // λ, Λ, cycle
    static constexpr std::int64_t rebase_at = std::int64_t{1} << 21;
    static constexpr int max_lanes = 64;
    static constexpr int units = static_cast<int>(max_narrow_subsystems);
    static constexpr std::uint32_t no_lane = 255;

    using Table = std::array<std::uint32_t, max_narrow_subsystems>;

    struct Op {
        std::uint32_t cpi = 0;      // λ [ticks]
        std::uint32_t latency = 0;  // Λ [ticks]
        std::uint32_t finish = 0;   // until the group may end [ticks]
    };

    // Of a time that is not before `base`, or long past.
    std::uint32_t of(std::int64_t time) const {
        const std::int64_t since = time > base ? time - base : 0;
        return static_cast<std::uint32_t>(since < last_time ? since : last_time) << time_shift;
    }

    // One scheduler's.
    struct alignas(64) Part {
        std::array<std::uint32_t, max_lanes> wake{};  // when the head is ready
        std::array<std::uint32_t, max_lanes> unit{};  // the head's subsystem
        std::array<std::uint32_t, max_lanes> rank{};  // by age, from 1
        // Per subsystem; a whole vector, and to be looked up one by one (in_order_lanes_loop.h).
        Table free_at{};  // of what is the scheduler's own, else 0
        Table ring{};     // the lane to try first
        Table free_of{};
        Table ring_of{};
        std::uint32_t key = 0;  // the least of its lanes
        // What that is, looked up before it is needed, so that an issue need not wait for it.
        std::uint32_t subsystem = 0;
        std::uint32_t lane = 0;
        std::uint32_t warp = 0;
        Op op;
        std::uint64_t head = 0;   // InOrderProgram::Instruction
        std::uint32_t open = 0;   // when its window is open
        std::uint32_t after = 0;  // the subsystem that it issued to last
        std::uint32_t first = 0;  // lane: to try first, or that issued last
        std::int64_t window_end = 0;
        std::int64_t window_left = 0;
        std::array<std::uint8_t, 128> lane_at{};        // per rank; 0: the last one, for gto
        std::array<std::uint8_t, max_lanes> warp_of{};  // lane
    };
    std::array<Part, max_narrow_schedulers> parts{};
    alignas(64) Table shared_free_at{};  // of what is shared, else 0
    Table shared_free_of{};
    alignas(64) std::array<Table, units> turns{};  // the ring of subsystems after each of them
    std::array<std::uint8_t, 64> lane_of{};        // warp
    bool greedy = false;                           // gto
    std::vector<Op> ops;                           // per Machine::ops
    std::int64_t base = 0;                         // [ticks]
    std::uint32_t last_ahead = 0;                  // times beyond need another base
    int per_scheduler = 16;                        // lanes, a power of two
    int schedulers = 1;                            // that have warps
    bool wide = false;                             // vectors of 512 bits
};

}  // namespace occupipe::sim
