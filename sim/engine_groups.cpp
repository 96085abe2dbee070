// SPDX-License-Identifier: MIT
// The engine's seldom part: how a core begins, and how groups come and go.
#include <algorithm>
#include <numeric>

#include "sim/bits.h"
#include "sim/engine.h"

namespace occupipe::sim {

CoreState::CoreState(const CoreLayout& layout) {
    const int warps = layout.warps();
    const int schedulers = layout.machine.schedulers;
    heads.resize(layout.stream_count);
    required.resize(layout.edge_count);
    ready.resize(layout.word_count);
    ready_subsystems.resize(warps);
    next_in_order.resize(warps);
    position.resize(warps);
    std::iota(position.begin(), position.end(), 0);
    warp_at = position;
    barriers_issued.resize(std::size_t{1} * warps * layout.barrier_channels);
    barrier_stream.resize(barriers_issued.size());
    ready_warps.resize(schedulers * layout.machine.subsystems.size() * layout.warp_words());
    ready_any.resize(schedulers);
    group.assign(layout.slots, no_group);
    unfinished.resize(layout.slots);
    barriers_released.resize(std::size_t{1} * layout.slots * layout.barrier_channels);
    barrier_arrivals.resize(barriers_released.size());
    subsystem_free_at.resize(schedulers * layout.machine.subsystems.size());
    port_free_at.resize(schedulers);
    scheduler_next.assign(schedulers, CompletionQueue::never);
    last_warp.assign(schedulers, no_warp);
    queues.resize(layout.queues.size());
    queue_next.assign(queues.size(), CompletionQueue::never);
    subsystem_busy.resize(subsystem_free_at.size());
    port_issues.resize(schedulers);
}

Engine::Engine(const CoreLayout& layout, Observer* observer)
    : layout_(layout),
      observer_(observer),
      state_(layout),
      schedulers_(layout.machine.schedulers),
      subsystems_(static_cast<std::int32_t>(layout.machine.subsystems.size())),
      warp_words_(layout.warp_words()),
      in_order_(layout.order == Order::in_order),
      port_spacing_(layout.machine.port_spacing.value_or(0)) {
    for (std::int32_t warp = 0; warp < layout.warps(); ++warp) {
        const ProgramLayout& program = layout.programs[layout.program_of[warp]];
        warps_.push_back({.layout = &program,
                          .streams = program.streams.data(),
                          .users = program.users.data(),
                          .edges = program.program.edges.data(),
                          .subsystem_streams = program.subsystem_streams.data(),
                          .heads = state_.heads.data() + layout.first_stream[warp],
                          .required = state_.required.data() + layout.first_edge[warp],
                          .ready = state_.ready.data() + layout.first_word[warp],
                          .words = program.words,
                          .scheduler = layout.scheduler_of[warp],
                          .slot = warp / layout.group_warps});
    }
    finished_slots_.reserve(layout.slots);
    state_.age_order.reserve(layout.slots);
    for (std::int32_t slot = 0; slot < layout.slots; ++slot) launch_group(slot);
}

void Engine::retire_finished_groups() {
    std::sort(finished_slots_.begin(), finished_slots_.end());
    for (const std::int32_t slot : finished_slots_) {
        if (observer_) observer_->group_ended({state_.now, slot, state_.group[slot]});
        state_.group[slot] = no_group;
        std::erase(state_.age_order, slot);
        if (layout_.policy == Policy::gto) forget_last_warp(slot);
        drop_pending_stores(slot);
    }
    if (layout_.policy != Policy::lrr) rebuild_age_positions();
    for (const std::int32_t slot : finished_slots_)
        if (state_.launched < layout_.groups) launch_group(slot);
    finished_slots_.clear();
}

void Engine::forget_last_warp(std::int32_t slot) {
    for (std::int32_t& last : state_.last_warp)
        if (last != no_warp && last / layout_.group_warps == slot) last = no_warp;
}

// A group may end before Λ of a store whose last instance nothing waits for.
void Engine::drop_pending_stores(std::int32_t slot) {
    for (std::size_t q = 0; q < state_.queues.size(); ++q) {
        if (layout_.queues[q].finishes) continue;
        state_.queues[q].remove_warps(slot * layout_.group_warps, (slot + 1) * layout_.group_warps);
        state_.queue_next[q] = state_.queues[q].next_time();
    }
    state_.next_completion = *std::min_element(state_.queue_next.begin(), state_.queue_next.end());
}

// Positions follow the age of the groups. The freed slots get the positions behind all others, in
// slot order, which is the order in which they take the next groups.
void Engine::rebuild_age_positions() {
    std::int32_t position = 0;
    const auto place = [&](std::int32_t slot) {
        for (std::int32_t index = 0; index < layout_.group_warps; ++index) {
            const std::int32_t warp = slot * layout_.group_warps + index;
            state_.position[warp] = position;
            state_.warp_at[position++] = warp;
        }
    };
    for (const std::int32_t slot : state_.age_order) place(slot);
    for (std::int32_t slot = 0; slot < layout_.slots; ++slot)
        if (state_.group[slot] == no_group) place(slot);
    std::fill(state_.ready_warps.begin(), state_.ready_warps.end(), 0);
    for (std::int32_t warp = 0; warp < layout_.warps(); ++warp)
        for_each_bit(state_.ready_subsystems[warp], [&](int subsystem) {
            ready_warps(layout_.scheduler_of[warp], subsystem)[state_.position[warp] / 64] |=
                bit(state_.position[warp]);
        });
}

}  // namespace occupipe::sim
