// SPDX-License-Identifier: MIT
#include "sim/engine.h"

#include <algorithm>

#include "core/error.h"
#include "sim/bits.h"

namespace occupipe::sim {

bool Engine::step() {
    for (std::int32_t scheduler = 0; scheduler < schedulers_; ++scheduler)
        if (state_.scheduler_next[scheduler] <= state_.now) schedule(scheduler);
    std::int64_t next = state_.next_completion;
    for (const std::int64_t time : state_.scheduler_next) next = std::min(next, time);
    if (next > max_ticks) {
        if (next == CompletionQueue::never) return false;
        throw InputError("the run takes more than 2^62 ticks; launch fewer groups");
    }
    if (observer_) report_waits(next);
    state_.now = next;
    if (next == state_.next_completion) pop_due();
    if (!finished_slots_.empty()) retire_finished_groups();
    return true;
}

// The first time at which the scheduler finds both its port and the unit of a ready head free.
inline std::int64_t Engine::next_issue(std::int32_t scheduler) const {
    const std::int64_t* free_at = &state_.subsystem_free_at[scheduler * subsystems_];
    std::int64_t first = CompletionQueue::never;
    for_each_bit(state_.ready_any[scheduler],
                 [&](int subsystem) { first = std::min(first, free_at[subsystem]); });
    return std::max(first, state_.port_free_at[scheduler]);
}

// Those with a ready head and a free unit.
inline std::uint64_t Engine::open_subsystems(std::int32_t scheduler) const {
    const std::int64_t* free_at = &state_.subsystem_free_at[scheduler * subsystems_];
    std::uint64_t open = 0;
    for_each_bit(state_.ready_any[scheduler], [&](int subsystem) {
        open |= std::uint64_t{free_at[subsystem] <= state_.now} << subsystem;
    });
    return open;
}

inline void Engine::schedule(std::int32_t scheduler) {
    if (state_.port_free_at[scheduler] <= state_.now) {
        while (const std::uint64_t open = open_subsystems(scheduler)) {
            const std::int32_t warp = pick_warp(scheduler, open);
            issue(warp, pick_stream(warps_[warp], open));
            state_.last_warp[scheduler] = warp;
            if (port_spacing_ != 0) break;
        }
    }
    state_.scheduler_next[scheduler] = next_issue(scheduler);
}

inline std::uint64_t Engine::ready_word(std::int32_t scheduler, std::uint64_t subsystems,
                                        int word) const {
    const std::uint64_t* sets = ready_warps(scheduler, 0) + word;
    std::uint64_t set = 0;
    for_each_bit(subsystems, [&](int subsystem) { set |= sets[subsystem * warp_words_]; });
    return set;
}

// The first position at or after `from`, or -1.
inline std::int32_t Engine::first_position(std::int32_t scheduler, std::uint64_t subsystems,
                                           std::int32_t from) const {
    int word = from / 64;
    if (word >= warp_words_) return -1;
    std::uint64_t set =
        ready_word(scheduler, subsystems, word) & (~std::uint64_t{0} << (from % 64));
    while (set == 0) {
        if (++word >= warp_words_) return -1;
        set = ready_word(scheduler, subsystems, word);
    }
    return word * 64 + lowest_bit(set);
}

// `subsystems` hold at least one ready head of this scheduler's warps.
inline std::int32_t Engine::pick_warp(std::int32_t scheduler, std::uint64_t subsystems) const {
    const std::int32_t last = state_.last_warp[scheduler];
    if (layout_.policy == Policy::gto && last != no_warp &&
        (state_.ready_subsystems[last] & subsystems) != 0)
        return last;
    if (warp_words_ == 1) {
        const std::uint64_t set = ready_word(scheduler, subsystems, 0);
        std::uint64_t after = set;
        if (layout_.policy == Policy::lrr && last != no_warp)
            after = set & (~std::uint64_t{1} << state_.position[last]);
        return state_.warp_at[lowest_bit(after != 0 ? after : set)];
    }
    std::int32_t found = -1;
    if (layout_.policy == Policy::lrr && last != no_warp)
        found = first_position(scheduler, subsystems, state_.position[last] + 1);
    if (found < 0) found = first_position(scheduler, subsystems, 0);
    return state_.warp_at[found];
}

inline std::uint64_t Engine::ready_streams(const Warp& warp, std::uint64_t subsystems, int word) {
    std::uint64_t set = 0;
    for_each_bit(subsystems, [&](int subsystem) {
        set |= warp.subsystem_streams[subsystem * warp.words + word];
    });
    return set & warp.ready[word];
}

// The lowest-index instruction among the ready heads. Streams stand in text order, which is program
// order except within a loop, where one stream may be iterations ahead of another.
inline std::int32_t Engine::pick_stream(const Warp& warp, std::uint64_t subsystems) {
    int word = 0;
    std::uint64_t set = ready_streams(warp, subsystems, word);
    while (set == 0) set = ready_streams(warp, subsystems, ++word);
    const std::int32_t first = word * 64 + lowest_bit(set);
    const std::int32_t end = warp.streams[first].top_end;
    const bool alone = end == 0 || (end <= word * 64 + 64 && (set & (set - 1)) == 0);
    return alone ? first : earliest_in_loop(warp, subsystems, first);
}

std::int32_t Engine::earliest_in_loop(const Warp& warp, std::uint64_t subsystems,
                                      std::int32_t first) {
    const std::int32_t end = warp.streams[first].top_end;
    std::int32_t best = first;
    for (int word = first / 64; word * 64 < end; ++word) {
        for_each_bit(ready_streams(warp, subsystems, word), [&](int in_word) {
            const std::int32_t stream = word * 64 + in_word;
            if (stream < end && warp.heads[stream].index < warp.heads[best].index) best = stream;
        });
    }
    return best;
}

// A unit that all schedulers share is busy for all of them.
inline void Engine::occupy(std::int32_t scheduler, std::int32_t subsystem, std::int64_t cpi) {
    const std::int64_t free_at = state_.now + cpi;
    const std::int32_t own = scheduler * subsystems_ + subsystem;
    state_.subsystem_busy[own] += cpi;
    state_.subsystem_free_at[own] = free_at;
    if (schedulers_ == 1 || layout_.machine.subsystems[subsystem].scope == Scope::scheduler) return;
    for (std::int32_t other = 0; other < schedulers_; ++other)
        state_.subsystem_free_at[other * subsystems_ + subsystem] = free_at;
}

inline void Engine::issue(std::int32_t warp, std::int32_t stream) {
    const Warp& w = warps_[warp];
    const ProgramLayout::Stream& s = w.streams[stream];
    const std::int64_t now = state_.now;
    occupy(w.scheduler, s.subsystem, s.cpi);
    if (port_spacing_ != 0) {
        state_.port_free_at[w.scheduler] = now + port_spacing_;
        ++state_.port_issues[w.scheduler];
    }
    ++state_.issued_total;
    if (observer_) report_issue(warp, stream);
    if (s.barrier_channel >= 0) {
        arrive_at_barrier(warp, stream);
    } else {
        if (s.completion_queue >= 0) push(s.completion_queue, warp, stream);
        if (s.finish_queue >= 0) push(s.finish_queue, warp, stream);
    }
    advance_head(warp, stream);
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
        push(warps_[warp].streams[stream].completion_queue, warp, stream);
        if (state_.barriers_issued[own] > released) ++arrivals;
    }
    state_.barrier_arrivals[shared] = arrivals;
}

inline void Engine::advance_head(std::int32_t warp, std::int32_t stream) {
    const Warp& w = warps_[warp];
    const ProgramLayout::Stream& s = w.streams[stream];
    Head& head = w.heads[stream];
    const std::int64_t next = ++head.issued;
    std::int32_t missing = 0;
    if (next == s.instances) {
        for (std::int32_t e = s.first_edge; e < s.last_edge; ++e) w.required[e] = never_required;
    } else if (--head.run_left != 0) {
        // Within a run of the innermost loop nothing outside it moves on.
        head.index += s.step;
        for (std::int32_t e = s.first_edge; e < s.last_edge; ++e) {
            const LoopProgram::Edge& edge = w.edges[e];
            if (edge.divisor == 1)
                w.required[e] = (edge.previous ? next : next + 1) * edge.multiplier;
            if (w.heads[edge.producer].completed < w.required[e]) ++missing;
        }
    } else {
        head.run_left = s.run;
        head.index = w.layout->program.program_index(stream, next);
        for (std::int32_t e = s.first_edge; e < s.last_edge; ++e) {
            w.required[e] = w.edges[e].required(next);
            if (w.heads[w.edges[e].producer].completed < w.required[e]) ++missing;
        }
    }
    head.missing = missing;
    if (in_order_)
        advance_in_order(warp, stream);
    else if (missing != 0 || next == s.instances)
        clear_ready(warp, stream);
}

void Engine::advance_in_order(std::int32_t warp, std::int32_t stream) {
    const Warp& w = warps_[warp];
    clear_ready(warp, stream);
    const std::int32_t next = following(w, stream);
    state_.next_in_order[warp] = next;
    if (next < static_cast<std::int32_t>(w.layout->streams.size()) && w.heads[next].missing == 0)
        set_ready(warp, next);
}

// The stream after `stream` in program order: at a loop's end its first, while iterations are left.
std::int32_t Engine::following(const Warp& warp, std::int32_t stream) {
    if (!warp.streams[stream].ends_loop) return stream + 1;
    std::int64_t iterations = warp.heads[stream].issued;
    const auto& loops = warp.layout->program.loops;
    for (std::int32_t l = warp.layout->program.streams[stream].loop;
         l >= 0 && loops[l].last == stream + 1; l = loops[l].parent) {
        if (iterations % loops[l].count != 0) return loops[l].first;
        iterations /= loops[l].count;
    }
    return stream + 1;
}

// Completes at now + the queue's delay.
inline void Engine::push(std::int32_t queue, std::int32_t warp, std::int32_t stream) {
    const std::int64_t time = state_.now + layout_.queues[queue].delay;
    state_.queues[queue].push({time, warp, stream});
    if (state_.queue_next[queue] == CompletionQueue::never) {
        state_.queue_next[queue] = time;
        state_.next_completion = std::min(state_.next_completion, time);
    }
}

inline void Engine::pop_due() {
    std::int64_t next = CompletionQueue::never;
    for (std::size_t q = 0; q < state_.queue_next.size(); ++q) {
        if (state_.queue_next[q] == state_.now) {
            CompletionQueue& queue = state_.queues[q];
            const QueueKind kind = layout_.queues[q];
            do complete(queue.pop(), kind);
            while (queue.next_time() == state_.now);
            state_.queue_next[q] = queue.next_time();
        }
        next = std::min(next, state_.queue_next[q]);
    }
    state_.next_completion = next;
}

inline void Engine::complete(const CompletionEvent& event, const QueueKind& kind) {
    const std::int32_t warp = event.warp;
    const Warp& w = warps_[warp];
    if (observer_ && kind.completes)
        observer_->completed({event.time, warp, event.stream, w.heads[event.stream].completed});
    if (kind.completes) {
        const ProgramLayout::Stream& s = w.streams[event.stream];
        const std::int64_t completed = ++w.heads[event.stream].completed;
        for (std::int32_t u = s.first_user; u < s.last_user; ++u) {
            const auto [edge, user] = w.users[u];
            if (w.required[edge] == completed && --w.heads[user].missing == 0)
                set_ready(warp, user);
        }
    }
    if (kind.finishes && --state_.unfinished[w.slot] == 0) finished_slots_.push_back(w.slot);
}

inline void Engine::set_ready(std::int32_t warp, std::int32_t stream) {
    if (in_order_ && state_.next_in_order[warp] != stream) return;
    const Warp& w = warps_[warp];
    w.ready[stream / 64] |= bit(stream);
    const std::int32_t subsystem = w.streams[stream].subsystem;
    state_.ready_subsystems[warp] |= bit(subsystem);
    const std::int32_t position = state_.position[warp];
    ready_warps(w.scheduler, subsystem)[position / 64] |= bit(position);
    state_.ready_any[w.scheduler] |= bit(subsystem);
    const std::int64_t free_at = state_.subsystem_free_at[w.scheduler * subsystems_ + subsystem];
    state_.scheduler_next[w.scheduler] = std::min(
        state_.scheduler_next[w.scheduler], std::max(free_at, state_.port_free_at[w.scheduler]));
}

inline void Engine::clear_ready(std::int32_t warp, std::int32_t stream) {
    const Warp& w = warps_[warp];
    w.ready[stream / 64] &= ~bit(stream);
    const std::int32_t subsystem = w.streams[stream].subsystem;
    const std::uint64_t* streams = w.subsystem_streams + subsystem * w.words;
    for (int word = 0; word < w.words; ++word)
        if ((w.ready[word] & streams[word]) != 0) return;
    state_.ready_subsystems[warp] &= ~bit(subsystem);
    const std::int32_t position = state_.position[warp];
    std::uint64_t* warps = ready_warps(w.scheduler, subsystem);
    warps[position / 64] &= ~bit(position);
    for (int word = 0; word < warp_words_; ++word)
        if (warps[word] != 0) return;
    state_.ready_any[w.scheduler] &= ~bit(subsystem);
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
        for (const std::int32_t stream : w.layout->initially_ready) set_ready(warp, stream);
    }
}

}  // namespace occupipe::sim
