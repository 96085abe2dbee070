// SPDX-License-Identifier: MIT
// How groups come and go.
#include <algorithm>

#include "sim/engine/event_engine.h"
#include "sim/machine/bits.h"

namespace occupipe::sim {

void EventEngine::place_program(Warp& w, std::int32_t program) const {
    const ProgramLayout& layout = layout_.programs[program];
    w.streams = layout.streams.data();
    w.users = layout.users.data();
    w.credit_steps = layout.credit_steps.data();
    w.subsystem_streams = layout.subsystem_streams.data();
    w.open_streams = layout.open_streams.data();
    w.words = layout.words;
    w.layout = &layout;
}

void EventEngine::start_group(std::int32_t kind) {
    const auto free = std::ranges::find(state_.group, no_group);
    launch_group(static_cast<std::int32_t>(free - state_.group.begin()), kind);
}

void EventEngine::launch_group(std::int32_t slot, std::int32_t kind) {
    state_.group[slot] = state_.launched++;
    state_.unfinished[slot] = layout_.kind_instructions[kind];
    state_.age_order.push_back(slot);
    if (observer_) observer_->group_started({state_.now, slot, state_.group[slot]});
    const std::int32_t channels = layout_.barrier_channels;
    std::fill_n(state_.barriers_released.begin() + slot * channels, channels, 0);
    std::fill_n(state_.barrier_arrivals.begin() + slot * channels, channels, 0);
    const std::int32_t first_warp = slot * layout_.group_warps;
    for (std::int32_t warp = first_warp; warp < first_warp + layout_.group_warps; ++warp) {
        Warp& w = warps_[warp];
        if (layout_.kinds.size() > 1) place_program(w, layout_.kinds[kind][warp - first_warp]);
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

void EventEngine::retire_finished_groups() {
    std::sort(finished_slots_.begin(), finished_slots_.end());
    for (const std::int32_t slot : finished_slots_) {
        if (observer_)
            for (std::int32_t index = 0; index < layout_.group_warps; ++index) {
                // The next group's warps may run other programs.
                if (layout_.kinds.size() > 1) report_wait(slot * layout_.group_warps + index);
                touch(slot * layout_.group_warps + index);
            }
        if (observer_) observer_->group_ended({state_.now, slot, state_.group[slot]});
        state_.group[slot] = no_group;
        std::erase(state_.age_order, slot);
        if (layout_.policy == Policy::gto) forget_last_warp(slot);
        drop_pending_stores(slot);
    }
    if (layout_.policy != Policy::lrr) rebuild_age_positions();
    for (const std::int32_t slot : finished_slots_)
        if (state_.launched < layout_.groups) launch_group(slot, next_kind());
    finished_slots_.clear();
}

// What of the positions the inner loop looks up.
void EventEngine::place_warps() {
    if (!layout_.narrow) return;
    for (std::size_t warp = 0; warp < warps_.size(); ++warp) {
        Warp& w = warps_[warp];
        w.place = bit(state_.position[warp]);
        w.next_try = ~std::uint64_t{0};
        if (layout_.policy == Policy::gto) w.next_try = w.place;
        if (layout_.policy == Policy::lrr) w.next_try = ~std::uint64_t{1} << state_.position[warp];
    }
}

void EventEngine::forget_last_warp(std::int32_t slot) {
    for (std::int32_t& last : state_.last_warp)
        if (last != no_warp && last / layout_.group_warps == slot) last = no_warp;
}

// A group may end before Λ of a store whose last instance nothing waits for.
void EventEngine::drop_pending_stores(std::int32_t slot) {
    for (std::size_t q = 0; q < state_.queues.size(); ++q) {
        if (layout_.queues[q].finishes) continue;
        state_.queues[q].remove_warps(slot * layout_.group_warps, (slot + 1) * layout_.group_warps);
        state_.queue_next[q] = state_.queues[q].next_time();
    }
    find_next_completion();
}

void EventEngine::rebuild_age_positions() {
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
