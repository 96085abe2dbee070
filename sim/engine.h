// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core_layout.h"
#include "sim/core_state.h"

namespace occupipe::sim {

// Runs a CoreState forward, from event to event. State and layout stay open to whoever looks at
// them between two steps.
class Engine {
public:
    explicit Engine(const CoreLayout& layout);

    // Issues all that can issue at the present time, then goes to the next time at which anything
    // changes. False once nothing will change any more. Throws InputError when time overflows.
    bool step();

    const CoreLayout& layout() const { return layout_; }
    CoreState& state() { return state_; }
    const CoreState& state() const { return state_; }

private:
    void launch_group(std::int32_t slot);
    void retire_finished_groups();
    void rebuild_age_positions();
    void forget_last_warp(std::int32_t slot);
    void drop_pending_stores(std::int32_t slot);

    void schedule(std::int32_t scheduler);
    std::int32_t pick_warp(std::int32_t scheduler, std::uint64_t subsystems) const;
    std::int32_t first_position(std::int32_t scheduler, std::uint64_t subsystems,
                                std::int32_t from) const;
    std::uint64_t ready_word(std::int32_t scheduler, std::uint64_t subsystems, int word) const;
    std::int32_t pick_stream(std::int32_t warp, std::uint64_t subsystems) const;
    std::int32_t earliest_in_loop(std::int32_t warp, std::uint64_t subsystems,
                                  std::int32_t first) const;
    void issue(std::int32_t warp, std::int32_t stream);
    void arrive_at_barrier(std::int32_t warp, std::int32_t stream);
    void release_barrier(std::int32_t slot, std::int32_t channel);
    void advance_head(std::int32_t warp, std::int32_t stream);
    std::int32_t following(const ProgramLayout& program, std::int32_t warp,
                           std::int32_t stream) const;

    void complete(const CompletionEvent& event, const QueueKind& kind);
    void set_ready(std::int32_t warp, std::int32_t stream);
    void clear_ready(std::int32_t warp, std::int32_t stream);
    std::int64_t next_time() const;

    const ProgramLayout& program(std::int32_t warp) const {
        return layout_.programs[layout_.program_of[warp]];
    }
    std::uint64_t* ready_warps(std::int32_t scheduler, std::int32_t subsystem) {
        return &state_.ready_warps[(scheduler * subsystems_ + subsystem) * warp_words_];
    }
    const std::uint64_t* ready_warps(std::int32_t scheduler, std::int32_t subsystem) const {
        return &state_.ready_warps[(scheduler * subsystems_ + subsystem) * warp_words_];
    }

    CoreLayout layout_;
    CoreState state_;
    std::int32_t subsystems_;
    std::int32_t warp_words_;
    std::vector<std::int32_t> unit_of_;         // per scheduler and subsystem
    std::vector<std::int32_t> finished_slots_;  // of the present time
};

}  // namespace occupipe::sim
