// SPDX-License-Identifier: MIT
#include "sim/machine/core_state.h"

#include <numeric>

namespace occupipe::sim {

CoreState::CoreState(const CoreLayout& layout) {
    const int warps = layout.warps();
    const int schedulers = layout.machine.schedulers;
    heads.resize(layout.stream_count);
    credits.resize(layout.credit_count);
    ready.resize(layout.word_count);
    next_in_order.resize(warps);
    position.resize(warps);
    std::iota(position.begin(), position.end(), 0);
    warp_at = position;
    barriers_issued.resize(std::size_t{1} * warps * layout.barrier_channels);
    barrier_stream.resize(barriers_issued.size());
    ready_warps.resize(std::size_t{1} * schedulers * layout.unit_pitch * layout.warp_words());
    group.assign(layout.slots, no_group);
    unfinished.resize(layout.slots);
    barriers_released.resize(std::size_t{1} * layout.slots * layout.barrier_channels);
    barrier_arrivals.resize(barriers_released.size());
    subsystem_free_at.resize(std::size_t{1} * schedulers * layout.unit_pitch);
    window_end.resize(schedulers);
    window_left.resize(schedulers);
    open_at.resize(schedulers);
    scheduler_next.assign(schedulers, CompletionQueue::never);
    last_warp.assign(schedulers, no_warp);
    // Rings begin with the first.
    last_subsystem.assign(schedulers,
                          static_cast<std::int32_t>(layout.machine.subsystems.size()) - 1);
    last_to.assign(subsystem_free_at.size(), no_warp);
    last_grant.assign(layout.unit_pitch, schedulers - 1);
    queues.resize(layout.queues.size());
    waiting.resize(layout.waiting_lines.size());
    queue_next.assign((queues.size() + queue_step - 1) / queue_step * queue_step,
                      CompletionQueue::never);
    subsystem_busy.resize(subsystem_free_at.size());
}

}  // namespace occupipe::sim
