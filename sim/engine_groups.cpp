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
    waiting.resize(layout.waiting_lines.size());
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
      narrow_(warp_words_ == 1 &&
              std::all_of(layout.programs.begin(), layout.programs.end(),
                          [](const ProgramLayout& program) { return program.words == 1; })),
      in_order_(layout.order == Order::in_order),
      port_spacing_(layout.machine.port_spacing.value_or(0)) {
    for (std::int32_t warp = 0; warp < layout.warps(); ++warp) {
        const ProgramLayout& program = layout.programs[layout.program_of[warp]];
        warps_.push_back({.layout = &program,
                          .streams = program.streams.data(),
                          .users = program.users.data(),
                          .edges = program.edges.data(),
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

void Engine::launch_group(std::int32_t slot) {
    state_.group[slot] = state_.launched++;
    state_.unfinished[slot] = layout_.group_instructions;
    state_.age_order.push_back(slot);
    if (observer_) observer_->group_started({state_.now, slot, state_.group[slot]});
    const std::int32_t channels = layout_.barrier_channels;
    std::fill_n(state_.barriers_released.begin() + slot * channels, channels, 0);
    std::fill_n(state_.barrier_arrivals.begin() + slot * channels, channels, 0);
    const std::int32_t first_warp = slot * layout_.group_warps;
    for (std::int32_t warp = first_warp; warp < first_warp + layout_.group_warps; ++warp) {
        const Warp& w = warps_[warp];
        std::copy(w.layout->initial_heads.begin(), w.layout->initial_heads.end(), w.heads);
        std::copy(w.layout->initial_required.begin(), w.layout->initial_required.end(), w.required);
        std::fill_n(state_.barriers_issued.begin() + warp * channels, channels, 0);
        state_.next_in_order[warp] = 0;
        for (const std::int32_t stream : w.layout->initially_ready) make_ready(warp, stream);
    }
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
    find_next_completion();
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

// An instruction's result is later by `wait` for each that is outstanding in its unit, but never
// before an earlier one's of the same kind.
void Engine::issue_waiting(const Warp& w, std::int32_t warp, std::int32_t stream) {
    const ProgramLayout::Stream& s = w.streams[stream];
    const Machine& machine = layout_.machine;
    const std::int32_t op = w.layout->program.streams[stream].op;
    const int unit = machine.unit(s.subsystem, w.scheduler);
    const std::int64_t now = state_.now;
    std::int64_t time = now + machine.ops[op].latency;
    CompletionQueue* own = nullptr;
    for (std::size_t i = 0; i < state_.waiting.size(); ++i) {
        const WaitingLine& line = layout_.waiting_lines[i];
        if (line.unit != unit) continue;
        CompletionQueue& outstanding = state_.waiting[i];
        while (outstanding.next_time() <= now) outstanding.pop();
        time += machine.ops[line.op].wait * static_cast<std::int64_t>(outstanding.size());
        if (line.op == op) own = &outstanding;
    }
    if (own->size() > 0) time = std::max(time, own->last_time());
    own->push({time, warp, stream});
    if (s.finish_queue >= 0) push(s.finish_queue, warp, stream, now);
    if (s.completion_queue >= 0)
        push_at(s.completion_queue + unit - machine.unit(s.subsystem, 0), warp, stream, time);
}

void Engine::arrive_at_barrier(std::int32_t warp, std::int32_t stream) {
    const std::int32_t channel = warps_[warp].streams[stream].barrier_channel;
    const std::int32_t slot = warps_[warp].slot;
    const std::int32_t own = warp * layout_.barrier_channels + channel;
    const std::int32_t shared = slot * layout_.barrier_channels + channel;
    state_.barrier_stream[own] = stream;
    // A warp may be more than one barrier ahead of the others.
    if (state_.barriers_issued[own]++ != state_.barriers_released[shared]) return;
    if (++state_.barrier_arrivals[shared] == layout_.group_warps) release_barrier(slot, channel);
}

void Engine::release_barrier(std::int32_t slot, std::int32_t channel) {
    const std::int32_t shared = slot * layout_.barrier_channels + channel;
    const std::int64_t released = ++state_.barriers_released[shared];
    std::int32_t arrivals = 0;
    const std::int32_t first = slot * layout_.group_warps;
    for (std::int32_t warp = first; warp < first + layout_.group_warps; ++warp) {
        const std::int32_t own = warp * layout_.barrier_channels + channel;
        const std::int32_t stream = state_.barrier_stream[own];
        push(warps_[warp].streams[stream].completion_queue, warp, stream, state_.now);
        if (state_.barriers_issued[own] > released) ++arrivals;
    }
    state_.barrier_arrivals[shared] = arrivals;
}

}  // namespace occupipe::sim
