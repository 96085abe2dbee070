// SPDX-License-Identifier: MIT
#pragma once

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
        const LoopProgram::Edge* edges = nullptr;
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

    void schedule(std::int32_t scheduler);
    std::uint64_t open_subsystems(std::int32_t scheduler) const;
    std::int32_t pick_warp(std::int32_t scheduler, std::uint64_t subsystems) const;
    std::int32_t first_position(std::int32_t scheduler, std::uint64_t subsystems,
                                std::int32_t from) const;
    std::uint64_t ready_word(std::int32_t scheduler, std::uint64_t subsystems, int word) const;
    static std::uint64_t ready_streams(const Warp& warp, std::uint64_t subsystems, int word);
    static std::int32_t pick_stream(const Warp& warp, std::uint64_t subsystems);
    static std::int32_t earliest_in_loop(const Warp& warp, std::uint64_t subsystems,
                                         std::int32_t first);
    void issue(std::int32_t warp, std::int32_t stream);
    void occupy(std::int32_t scheduler, std::int32_t subsystem, std::int64_t cpi);
    void arrive_at_barrier(std::int32_t warp, std::int32_t stream);
    void release_barrier(std::int32_t slot, std::int32_t channel);
    void advance_head(std::int32_t warp, std::int32_t stream);
    void advance_in_order(std::int32_t warp, std::int32_t stream);
    static std::int32_t following(const Warp& warp, std::int32_t stream);

    // What an observer is told (engine_events.cpp).
    void report_issue(std::int32_t warp, std::int32_t stream) const;
    void report_waits(std::int64_t until) const;
    Wait wait_of(std::int32_t warp) const;
    bool is_outstanding(std::int32_t warp) const;
    Wait wait_of_ready(const Warp& warp, std::int32_t stream) const;
    static Wait wait_of_blocked(const Warp& warp, std::int32_t stream, const Machine& machine);

    void push(std::int32_t queue, std::int32_t warp, std::int32_t stream);
    void pop_due();
    void complete(const CompletionEvent& event, const QueueKind& kind);
    void set_ready(std::int32_t warp, std::int32_t stream);
    void clear_ready(std::int32_t warp, std::int32_t stream);
    std::int64_t next_issue(std::int32_t scheduler) const;

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
    bool in_order_;
    std::int64_t port_spacing_;                 // [ticks]; 0: no port
    std::vector<std::int32_t> finished_slots_;  // of the present time
};

}  // namespace occupipe::sim
