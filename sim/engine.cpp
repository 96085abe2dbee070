// SPDX-License-Identifier: MIT
#include "sim/engine.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "core/error.h"

namespace occupipe::sim {
namespace {

constexpr std::uint64_t bit(std::int32_t index) { return std::uint64_t{1} << (index & 63); }

// Visits the members of a small set.
template <typename Visit>
void for_each_bit(std::uint64_t set, const Visit& visit) {
    for (; set != 0; set &= set - 1) visit(std::countr_zero(set));
}

}  // namespace

CoreState::CoreState(const CoreLayout& layout) {
    const int warps = layout.warps();
    const int schedulers = layout.machine.schedulers;
    issued.resize(layout.stream_count);
    completed.resize(layout.stream_count);
    missing.resize(layout.stream_count);
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
    unit_free_at.resize(layout.machine.unit_count());
    port_free_at.resize(schedulers);
    last_warp.assign(schedulers, no_warp);
    queues.resize(layout.queues.size());
    unit_busy.resize(unit_free_at.size());
    port_issues.resize(schedulers);
}

Engine::Engine(const CoreLayout& layout)
    : layout_(layout),
      state_(layout),
      subsystems_(static_cast<std::int32_t>(layout.machine.subsystems.size())),
      warp_words_(layout.warp_words()) {
    for (int scheduler = 0; scheduler < layout.machine.schedulers; ++scheduler)
        for (int subsystem = 0; subsystem < subsystems_; ++subsystem)
            unit_of_.push_back(layout.machine.unit(subsystem, scheduler));
    finished_slots_.reserve(layout.slots);
    state_.age_order.reserve(layout.slots);
    for (std::int32_t slot = 0; slot < layout.slots; ++slot) launch_group(slot);
}

bool Engine::step() {
    for (int scheduler = 0; scheduler < layout_.machine.schedulers; ++scheduler)
        if (state_.ready_any[scheduler] != 0) schedule(scheduler);
    const std::int64_t next = next_time();
    if (next == CompletionQueue::never) return false;
    if (next > max_ticks)
        throw InputError("the run takes more than 2^62 ticks; launch fewer groups");
    state_.now = next;
    for (std::size_t q = 0; q < state_.queues.size(); ++q) {
        CompletionQueue& queue = state_.queues[q];
        while (queue.next_time() <= next) complete(queue.pop(), layout_.queues[q]);
    }
    if (!finished_slots_.empty()) retire_finished_groups();
    return true;
}

// The next completion, or the first time at which a scheduler with something ready finds both its
// port and one of the units free.
std::int64_t Engine::next_time() const {
    std::int64_t next = CompletionQueue::never;
    for (const CompletionQueue& queue : state_.queues) next = std::min(next, queue.next_time());
    for (int scheduler = 0; scheduler < layout_.machine.schedulers; ++scheduler) {
        if (state_.ready_any[scheduler] == 0) continue;
        std::int64_t free_at = CompletionQueue::never;
        for_each_bit(state_.ready_any[scheduler], [&](int subsystem) {
            free_at = std::min(free_at,
                               state_.unit_free_at[unit_of_[scheduler * subsystems_ + subsystem]]);
        });
        next = std::min(next, std::max(free_at, state_.port_free_at[scheduler]));
    }
    return next;
}

void Engine::schedule(std::int32_t scheduler) {
    if (state_.port_free_at[scheduler] > state_.now) return;
    const bool one_at_a_time = layout_.machine.port_spacing.has_value();
    const std::int32_t* units = &unit_of_[scheduler * subsystems_];
    std::uint64_t free = 0;
    for (std::int32_t subsystem = 0; subsystem < subsystems_; ++subsystem)
        if (state_.unit_free_at[units[subsystem]] <= state_.now) free |= bit(subsystem);
    while (const std::uint64_t open = state_.ready_any[scheduler] & free) {
        const std::int32_t warp = pick_warp(scheduler, open);
        const std::int32_t stream = pick_stream(warp, open);
        free &= ~bit(program(warp).streams[stream].subsystem);
        issue(warp, stream);
        state_.last_warp[scheduler] = warp;
        if (one_at_a_time) return;
    }
}

std::uint64_t Engine::ready_word(std::int32_t scheduler, std::uint64_t subsystems, int word) const {
    std::uint64_t set = 0;
    for_each_bit(subsystems,
                 [&](int subsystem) { set |= ready_warps(scheduler, subsystem)[word]; });
    return set;
}

// The first position at or after `from`, or -1.
std::int32_t Engine::first_position(std::int32_t scheduler, std::uint64_t subsystems,
                                    std::int32_t from) const {
    int word = from / 64;
    if (word >= warp_words_) return -1;
    std::uint64_t set =
        ready_word(scheduler, subsystems, word) & (~std::uint64_t{0} << (from % 64));
    while (set == 0) {
        if (++word >= warp_words_) return -1;
        set = ready_word(scheduler, subsystems, word);
    }
    return word * 64 + std::countr_zero(set);
}

// `subsystems` hold at least one ready head of this scheduler's warps.
std::int32_t Engine::pick_warp(std::int32_t scheduler, std::uint64_t subsystems) const {
    const std::int32_t last = state_.last_warp[scheduler];
    if (layout_.policy == Policy::gto && last != no_warp &&
        (state_.ready_subsystems[last] & subsystems) != 0)
        return last;
    std::int32_t found = -1;
    if (layout_.policy == Policy::lrr && last != no_warp)
        found = first_position(scheduler, subsystems, state_.position[last] + 1);
    if (found < 0) found = first_position(scheduler, subsystems, 0);
    return state_.warp_at[found];
}

// The lowest-index instruction among the ready heads. Streams stand in text order, which is program
// order except within a loop, where one stream may be iterations ahead of another.
std::int32_t Engine::pick_stream(std::int32_t warp, std::uint64_t subsystems) const {
    const ProgramLayout& layout = program(warp);
    const std::uint64_t* ready = &state_.ready[layout_.first_word[warp]];
    for (int word = 0;; ++word) {
        std::uint64_t set = 0;
        for_each_bit(subsystems, [&](int subsystem) {
            set |= layout.subsystem_streams[subsystem * layout.words + word];
        });
        set &= ready[word];
        if (set == 0) continue;
        const std::int32_t first = word * 64 + std::countr_zero(set);
        const std::int32_t end = layout.streams[first].top_end;
        const bool alone = end == 0 || (end <= word * 64 + 64 && (set & (set - 1)) == 0);
        return alone ? first : earliest_in_loop(warp, subsystems, first);
    }
}

std::int32_t Engine::earliest_in_loop(std::int32_t warp, std::uint64_t subsystems,
                                      std::int32_t first) const {
    const ProgramLayout& layout = program(warp);
    const std::uint64_t* ready = &state_.ready[layout_.first_word[warp]];
    const std::int64_t* issued = &state_.issued[layout_.first_stream[warp]];
    const std::int32_t end = layout.streams[first].top_end;
    std::int32_t best = first;
    std::int64_t best_index = layout.program.program_index(first, issued[first]);
    for (int word = first / 64; word * 64 < end; ++word) {
        std::uint64_t set = 0;
        for_each_bit(subsystems, [&](int subsystem) {
            set |= layout.subsystem_streams[subsystem * layout.words + word];
        });
        for_each_bit(set & ready[word], [&](int in_word) {
            const std::int32_t stream = word * 64 + in_word;
            if (stream <= first || stream >= end) return;
            const std::int64_t index = layout.program.program_index(stream, issued[stream]);
            if (index < best_index) {
                best = stream;
                best_index = index;
            }
        });
    }
    return best;
}

void Engine::issue(std::int32_t warp, std::int32_t stream) {
    const ProgramLayout::Stream& s = program(warp).streams[stream];
    const std::int32_t scheduler = layout_.scheduler_of[warp];
    const std::int32_t unit = unit_of_[scheduler * subsystems_ + s.subsystem];
    state_.unit_free_at[unit] = state_.now + s.cpi;
    state_.unit_busy[unit] += s.cpi;
    if (layout_.machine.port_spacing) {
        state_.port_free_at[scheduler] = state_.now + *layout_.machine.port_spacing;
        ++state_.port_issues[scheduler];
    }
    ++state_.issued_total;
    ++state_.issued[layout_.first_stream[warp] + stream];
    if (s.barrier_channel >= 0) {
        arrive_at_barrier(warp, stream);
    } else {
        if (s.completion_queue >= 0)
            state_.queues[s.completion_queue].push(
                {state_.now + layout_.queues[s.completion_queue].delay, warp, stream});
        if (s.finish_queue >= 0)
            state_.queues[s.finish_queue].push(
                {state_.now + layout_.queues[s.finish_queue].delay, warp, stream});
    }
    advance_head(warp, stream);
}

void Engine::arrive_at_barrier(std::int32_t warp, std::int32_t stream) {
    const std::int32_t channel = program(warp).streams[stream].barrier_channel;
    const std::int32_t slot = warp / layout_.group_warps;
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
        const std::int32_t queue = program(warp).streams[stream].completion_queue;
        state_.queues[queue].push({state_.now + layout_.queues[queue].delay, warp, stream});
        if (state_.barriers_issued[own] > released) ++arrivals;
    }
    state_.barrier_arrivals[shared] = arrivals;
}

void Engine::advance_head(std::int32_t warp, std::int32_t stream) {
    const ProgramLayout& layout = program(warp);
    const ProgramLayout::Stream& s = layout.streams[stream];
    const std::int32_t first = layout_.first_stream[warp];
    const std::int64_t head = state_.issued[first + stream];
    std::int32_t missing = 0;
    if (head < s.instances) {
        for (std::int32_t e = s.first_edge; e < s.last_edge; ++e) {
            const LoopProgram::Edge& edge = layout.program.edges[e];
            if (state_.completed[first + edge.producer] < edge.required(head)) ++missing;
        }
        state_.missing[first + stream] = missing;
    }
    if (layout_.order == Order::in_order) {
        clear_ready(warp, stream);
        const std::int32_t next = following(layout, warp, stream);
        state_.next_in_order[warp] = next;
        if (next < static_cast<std::int32_t>(layout.streams.size()) &&
            state_.missing[first + next] == 0)
            set_ready(warp, next);
    } else if (missing != 0 || head == s.instances) {
        clear_ready(warp, stream);
    }
}

// The stream after `stream` in program order: at a loop's end its first, while iterations are left.
std::int32_t Engine::following(const ProgramLayout& layout, std::int32_t warp,
                               std::int32_t stream) const {
    if (!layout.streams[stream].ends_loop) return stream + 1;
    std::int64_t iterations = state_.issued[layout_.first_stream[warp] + stream];
    const auto& loops = layout.program.loops;
    for (std::int32_t l = layout.program.streams[stream].loop;
         l >= 0 && loops[l].last == stream + 1; l = loops[l].parent) {
        if (iterations % loops[l].count != 0) return loops[l].first;
        iterations /= loops[l].count;
    }
    return stream + 1;
}

void Engine::complete(const CompletionEvent& event, const QueueKind& kind) {
    const auto [time, warp, stream] = event;
    if (kind.completes) {
        const ProgramLayout& layout = program(warp);
        const ProgramLayout::Stream& s = layout.streams[stream];
        const std::int32_t first = layout_.first_stream[warp];
        const std::int64_t completed = ++state_.completed[first + stream];
        for (std::int32_t u = s.first_user; u < s.last_user; ++u) {
            const auto& [edge, instances] = layout.users[u];
            const std::int64_t head = state_.issued[first + edge.user];
            if (head == instances || edge.required(head) != completed) continue;
            if (--state_.missing[first + edge.user] == 0) set_ready(warp, edge.user);
        }
    }
    if (kind.finishes) {
        const std::int32_t slot = warp / layout_.group_warps;
        if (--state_.unfinished[slot] == 0) finished_slots_.push_back(slot);
    }
}

void Engine::set_ready(std::int32_t warp, std::int32_t stream) {
    if (layout_.order == Order::in_order && state_.next_in_order[warp] != stream) return;
    state_.ready[layout_.first_word[warp] + stream / 64] |= bit(stream);
    const std::int32_t subsystem = program(warp).streams[stream].subsystem;
    state_.ready_subsystems[warp] |= bit(subsystem);
    const std::int32_t scheduler = layout_.scheduler_of[warp];
    const std::int32_t position = state_.position[warp];
    ready_warps(scheduler, subsystem)[position / 64] |= bit(position);
    state_.ready_any[scheduler] |= bit(subsystem);
}

void Engine::clear_ready(std::int32_t warp, std::int32_t stream) {
    const ProgramLayout& layout = program(warp);
    std::uint64_t* ready = &state_.ready[layout_.first_word[warp]];
    ready[stream / 64] &= ~bit(stream);
    const std::int32_t subsystem = layout.streams[stream].subsystem;
    const std::uint64_t* streams = &layout.subsystem_streams[subsystem * layout.words];
    for (int word = 0; word < layout.words; ++word)
        if ((ready[word] & streams[word]) != 0) return;
    state_.ready_subsystems[warp] &= ~bit(subsystem);
    const std::int32_t scheduler = layout_.scheduler_of[warp];
    const std::int32_t position = state_.position[warp];
    std::uint64_t* warps = ready_warps(scheduler, subsystem);
    warps[position / 64] &= ~bit(position);
    for (int word = 0; word < warp_words_; ++word)
        if (warps[word] != 0) return;
    state_.ready_any[scheduler] &= ~bit(subsystem);
}

void Engine::launch_group(std::int32_t slot) {
    state_.group[slot] = state_.launched++;
    state_.unfinished[slot] = layout_.group_instructions;
    state_.age_order.push_back(slot);
    const std::int32_t channels = layout_.barrier_channels;
    std::fill_n(state_.barriers_released.begin() + slot * channels, channels, 0);
    std::fill_n(state_.barrier_arrivals.begin() + slot * channels, channels, 0);
    const std::int32_t first_warp = slot * layout_.group_warps;
    for (std::int32_t warp = first_warp; warp < first_warp + layout_.group_warps; ++warp) {
        const ProgramLayout& layout = program(warp);
        const std::int32_t first = layout_.first_stream[warp];
        std::fill_n(state_.issued.begin() + first, layout.streams.size(), 0);
        std::fill_n(state_.completed.begin() + first, layout.streams.size(), 0);
        std::copy(layout.initial_missing.begin(), layout.initial_missing.end(),
                  state_.missing.begin() + first);
        std::fill_n(state_.barriers_issued.begin() + warp * channels, channels, 0);
        state_.next_in_order[warp] = 0;
        for (const std::int32_t stream : layout.initially_ready) set_ready(warp, stream);
    }
}

void Engine::retire_finished_groups() {
    std::sort(finished_slots_.begin(), finished_slots_.end());
    for (const std::int32_t slot : finished_slots_) {
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
    for (std::size_t q = 0; q < state_.queues.size(); ++q)
        if (!layout_.queues[q].finishes)
            state_.queues[q].remove_warps(slot * layout_.group_warps,
                                          (slot + 1) * layout_.group_warps);
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
