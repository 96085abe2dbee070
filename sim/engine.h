// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/core_layout.h"
#include "sim/core_state.h"
#include "sim/observer.h"

namespace occupipe::sim {

// Runs a CoreState forward, from event to event. Whoever drives it may look at the state, and
// change it consistently, between two steps. The layout must outlive it.
class Engine {
public:
    // The observer, if there is one, must outlive the engine.
    explicit Engine(const CoreLayout& layout, Observer* observer = nullptr);
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    // Issues all that can issue at the present time, then goes to the next time at which anything
    // changes. False once nothing will change any more. Throws InputError when time overflows.
    bool step();

    const CoreLayout& layout() const { return layout_; }
    CoreState& state() { return state_; }
    const CoreState& state() const { return state_; }

private:
    // Where one warp's constants and state lie.
    struct Warp {
        const ProgramLayout* layout = nullptr;
        const ProgramLayout::Stream* streams = nullptr;
        const ProgramLayout::UserEdge* users = nullptr;
        const ProgramLayout::Edge* edges = nullptr;
        const std::uint64_t* subsystem_streams = nullptr;
        Head* heads = nullptr;
        std::int64_t* required = nullptr;
        std::uint64_t* ready = nullptr;
        std::int32_t words = 1;
        std::int32_t scheduler = 0;
        std::int32_t slot = 0;
    };

    void launch_group(std::int32_t slot);
    void retire_finished_groups();
    void rebuild_age_positions();
    void forget_last_warp(std::int32_t slot);
    void drop_pending_stores(std::int32_t slot);

    // `narrow`: at most 64 warps on the core and 64 instructions in every program, so that each set
    // is one word.
    template <bool narrow>
    bool step_as();
    template <bool narrow>
    void schedule(std::int32_t scheduler, std::int64_t now);
    std::int64_t next_issue(std::int32_t scheduler) const;
    std::uint64_t open_subsystems(std::int32_t scheduler, std::int64_t now) const;
    template <bool narrow>
    std::int32_t pick_warp(std::int32_t scheduler, std::uint64_t subsystems) const;
    std::int32_t first_position(std::int32_t scheduler, std::uint64_t subsystems,
                                std::int32_t from) const;
    std::uint64_t ready_word(std::int32_t scheduler, std::uint64_t subsystems, int word) const;
    static std::uint64_t ready_streams(const Warp& warp, std::uint64_t subsystems, int word);
    template <bool narrow>
    static std::int32_t pick_stream(const Warp& warp, std::uint64_t subsystems);
    template <bool narrow>
    void issue(const Warp& w, std::int32_t warp, std::int32_t stream, std::int64_t now);
    void occupy(std::int32_t scheduler, std::int32_t subsystem, std::int64_t cpi, std::int64_t now);
    void issue_waiting(const Warp& w, std::int32_t warp, std::int32_t stream);
    void arrive_at_barrier(std::int32_t warp, std::int32_t stream);
    void release_barrier(std::int32_t slot, std::int32_t channel);
    template <bool narrow>
    void advance_head(const Warp& w, std::int32_t warp, std::int32_t stream);
    static std::int32_t begin_run(const Warp& w, std::int32_t stream);
    template <bool narrow>
    void advance_in_order(const Warp& w, std::int32_t warp, std::int32_t stream);
    static std::int32_t following(const Warp& warp, std::int32_t stream);
    // Completes at now + the queue's delay.
    void push(std::int32_t queue, std::int32_t warp, std::int32_t stream, std::int64_t now) {
        push_at(queue, warp, stream, now + layout_.queues[queue].delay);
    }

    void push_at(std::int32_t queue, std::int32_t warp, std::int32_t stream, std::int64_t time) {
        state_.queues[queue].push({time, warp, stream});
        // Events of one queue are in order: only the first one counts.
        if (state_.queue_next[queue] != CompletionQueue::never) return;
        state_.queue_next[queue] = time;
        if (time >= state_.next_completion) return;
        state_.next_completion = time;
        state_.next_queue = queue;
    }

    void find_next_completion() {
        const std::int64_t* const next = state_.queue_next.data();
        const auto count = static_cast<std::int32_t>(state_.queue_next.size());
        std::int64_t first = next[0];
        std::int32_t queue = 0;
        for (std::int32_t q = 1; q < count; ++q) {
            queue = next[q] < first ? q : queue;
            first = std::min(first, next[q]);
        }
        state_.next_completion = first;
        state_.next_queue = queue;
    }
    template <bool narrow>
    void pop_due(std::int64_t now);
    template <bool narrow>
    void complete(const CompletionEvent& event, const QueueKind& kind);
    template <bool narrow>
    void set_ready(const Warp& w, std::int32_t warp, std::int32_t stream);
    template <bool narrow>
    void clear_ready(const Warp& w, std::int32_t warp, std::int32_t stream);
    void make_ready(std::int32_t warp, std::int32_t stream);

    // What an observer is told (engine_events.cpp).
    void report_issue(std::int32_t warp, std::int32_t stream) const;
    void report_waits(std::int64_t until) const;
    Wait wait_of(std::int32_t warp) const;
    bool is_outstanding(std::int32_t warp) const;
    Wait wait_of_ready(const Warp& warp, std::int32_t stream) const;
    static Wait wait_of_blocked(const Warp& warp, std::int32_t stream, const Machine& machine);

    std::uint64_t* ready_warps(std::int32_t scheduler, std::int32_t subsystem) {
        return &state_.ready_warps[(scheduler * subsystems_ + subsystem) * warp_words_];
    }
    const std::uint64_t* ready_warps(std::int32_t scheduler, std::int32_t subsystem) const {
        return &state_.ready_warps[(scheduler * subsystems_ + subsystem) * warp_words_];
    }

    const CoreLayout& layout_;
    Observer* observer_;
    CoreState state_;
    std::vector<Warp> warps_;
    std::int32_t schedulers_;
    std::int32_t subsystems_;
    std::int32_t warp_words_;
    bool narrow_;
    bool in_order_;
    std::int64_t port_spacing_;                 // [ticks]; 0: no port
    std::vector<std::int32_t> finished_slots_;  // of the present time
};

}  // namespace occupipe::sim
