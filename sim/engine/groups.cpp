// SPDX-License-Identifier: MIT
// How a core begins, and how groups come and go.
#include <algorithm>
#include <numeric>

#include "sim/engine/engine.h"
#include "sim/machine/bits.h"

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

Engine::Engine(const CoreLayout& layout, Observer* observer)
    : layout_(layout),
      observer_(observer),
      state_(layout),
      schedulers_(layout.machine.schedulers),
      subsystems_(static_cast<std::int32_t>(layout.machine.subsystems.size())),
      units_(layout.unit_pitch),
      warp_words_(layout.warp_words()),
      in_order_(layout.order == Order::in_order),
      by_subsystem_(layout.select == Select::subsystem),
      window_(layout.machine.window ? &*layout.machine.window : nullptr) {
    for (std::int32_t warp = 0; warp < layout.warps(); ++warp) {
        const ProgramLayout& program = layout.programs[layout.program_of[warp]];
        warps_.push_back({.streams = program.streams.data(),
                          .users = program.users.data(),
                          .credit_steps = program.credit_steps.data(),
                          .subsystem_streams = program.subsystem_streams.data(),
                          .open_streams = program.open_streams.data(),
                          .heads = state_.heads.data() + layout.first_stream[warp],
                          .credits = state_.credits.data() + layout.first_credit[warp],
                          .ready = state_.ready.data() + layout.first_word[warp],
                          .words = program.words,
                          .scheduler = layout.scheduler_of[warp],
                          .slot = warp / layout.group_warps,
                          .unfinished = &state_.unfinished[warp / layout.group_warps],
                          .layout = &program});
    }
    if (observer_) {
        units_now_ = {state_.subsystem_free_at.data(), state_.open_at.data()};
        waits_.resize(warps_.size());
        ready_at_.resize(state_.subsystem_free_at.size());
        bound_.resize(ready_at_.size());
    }
    lists_ready_ = layout.narrow && (layout.many_streams || lists_pay());
    if (lists_ready_) {
        ready_lists_.resize(warps_.size() * units_);
        for (std::size_t warp = 0; warp < warps_.size(); ++warp)
            warps_[warp].lists = ready_lists_.data() + warp * units_;
    }
    place_warps();
    finished_slots_.reserve(layout.slots);
    state_.age_order.reserve(layout.slots);
    proposals_.reserve(schedulers_);
    grants_.reserve(schedulers_);
    for (std::int32_t slot = 0; slot < layout.slots; ++slot) launch_group(slot);
}

// Whether it is faster to keep the ready heads in order than to look for the first one. An observer
// is told of the first one whenever another may be the first; four schedulers pick more often than
// they issue.
bool Engine::lists_pay() const {
    std::size_t streams = 0;
    for (const ProgramLayout& program : layout_.programs)
        streams = std::max(streams, program.streams.size());
    return streams > (observer_ ? 8 : schedulers_ > 1 ? 32 : 64);
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
        std::copy(w.layout->initial_credits.begin(), w.layout->initial_credits.end(), w.credits);
        std::fill_n(state_.barriers_issued.begin() + warp * channels, channels, 0);
        state_.next_in_order[warp] = 0;
        if (observer_) {
            touch(warp);
            waits_[warp].oldest = 0;
            waits_[warp].oldest_index = 0;
        }
        for (const std::int32_t stream : w.layout->initially_ready) make_ready(w, warp, stream);
    }
}

void Engine::retire_finished_groups() {
    std::sort(finished_slots_.begin(), finished_slots_.end());
    for (const std::int32_t slot : finished_slots_) {
        if (observer_) observer_->group_ended({state_.now, slot, state_.group[slot]});
        if (observer_)
            for (std::int32_t index = 0; index < layout_.group_warps; ++index)
                touch(slot * layout_.group_warps + index);
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

// What of the positions the inner loop looks up.
void Engine::place_warps() {
    if (!layout_.narrow) return;
    for (std::size_t warp = 0; warp < warps_.size(); ++warp) {
        Warp& w = warps_[warp];
        w.place = bit(state_.position[warp]);
        w.next_try = ~std::uint64_t{0};
        if (layout_.policy == Policy::gto) w.next_try = w.place;
        if (layout_.policy == Policy::lrr) w.next_try = ~std::uint64_t{1} << state_.position[warp];
    }
}

void Engine::watch(const std::vector<Watch>& watches) {
    if (!layout_.narrow) return;
    for (const Watch& watch : watches_) warps_[watch.warp].watched = 0;
    watches_ = watches;
    for (const Watch& watch : watches_)
        warps_[watch.warp].watched |=
            bit(static_cast<std::int32_t>(watch.head - layout_.first_stream[watch.warp]));
}

// Anew, where somebody has changed the state.
void Engine::list_ready_heads() {
    if (listed_at_ == state_.issued_total) return;
    for (ReadyList& list : ready_lists_) list.clear();
    for (const Warp& w : warps_)
        for (int word = 0; word < w.words; ++word)
            for_each_bit(w.ready[word], [&](int in_word) {
                const std::int32_t stream = 64 * word + in_word;
                w.lists[w.streams[stream].subsystem].insert(w.heads[stream].index, stream);
            });
    listed_at_ = state_.issued_total;
}

bool Engine::stops_after(std::int32_t warp, std::int32_t stream) {
    const std::size_t head = layout_.first_stream[warp] + stream;
    stopped_at_ = 0;
    for (std::size_t i = 0; i < watches_.size(); ++i) {
        Watch& watch = watches_[i];
        if (watch.head != head) continue;
        if (watch.passes > 0 && watch.ready != state_.ready[layout_.first_word[warp]])
            --watch.passes;
        else
            stopped_at_ |= bit(static_cast<std::int32_t>(i));
    }
    return stopped_at_ != 0;
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

void Engine::rebuild_age_positions() {
    place_by_age(state_, layout_);
    std::fill(state_.ready_warps.begin(), state_.ready_warps.end(), 0);
    for (std::int32_t warp = 0; warp < layout_.warps(); ++warp) {
        const Warp& w = warps_[warp];
        for (std::int32_t subsystem = 0; subsystem < subsystems_; ++subsystem)
            if (has_ready(w, subsystem))
                ready_warps(w.scheduler, subsystem)[state_.position[warp] / 64] |=
                    bit(state_.position[warp]);
    }
    place_warps();
}

}  // namespace occupipe::sim
