// SPDX-License-Identifier: MIT
#include "sim/engine.h"

#include <algorithm>

#include "core/error.h"
#include "sim/bits.h"

namespace occupipe::sim {
namespace {

// The union of those sets, `pitch` apart, whose numbers are in `chosen`, which is not empty; most
// often it holds one.
inline std::uint64_t union_of(const std::uint64_t* sets, std::int32_t pitch, std::uint64_t chosen) {
    std::uint64_t all = sets[lowest_bit(chosen) * pitch];
    for_each_bit(chosen & (chosen - 1), [&](int s) { all |= sets[s * pitch]; });
    return all;
}

// Members below `end`, of a one-word set.
constexpr std::uint64_t below(std::int32_t end) {
    return end >= 64 ? ~std::uint64_t{0} : bit(end) - 1;
}

}  // namespace

bool Engine::step() { return narrow_ ? step_as<true>() : step_as<false>(); }

template <bool narrow>
inline bool Engine::step_as() {
    const std::int64_t now = state_.now;
    std::int64_t* const scheduler_next = state_.scheduler_next.data();
    if (scheduler_next[0] <= now) schedule<narrow>(0, now);
    for (std::int32_t scheduler = 1; scheduler < schedulers_; ++scheduler)
        if (scheduler_next[scheduler] <= now) schedule<narrow>(scheduler, now);
    std::int64_t next = std::min(state_.next_completion, scheduler_next[0]);
    for (std::int32_t scheduler = 1; scheduler < schedulers_; ++scheduler)
        next = std::min(next, scheduler_next[scheduler]);
    if (next > max_ticks) {
        if (next == CompletionQueue::never) return false;
        throw InputError("the run takes more than 2^62 ticks; launch fewer groups");
    }
    if (observer_) report_waits(next);
    state_.now = next;
    if (next == state_.next_completion) {
        pop_due<narrow>(next);
        if (!finished_slots_.empty()) retire_finished_groups();
    }
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
inline std::uint64_t Engine::open_subsystems(std::int32_t scheduler, std::int64_t now) const {
    const std::int64_t* free_at = &state_.subsystem_free_at[scheduler * subsystems_];
    std::uint64_t open = 0;
    for_each_bit(state_.ready_any[scheduler], [&](int subsystem) {
        open |= std::uint64_t{free_at[subsystem] <= now} << subsystem;
    });
    return open;
}

template <bool narrow>
inline void Engine::schedule(std::int32_t scheduler, std::int64_t now) {
    if (state_.port_free_at[scheduler] <= now) {
        while (const std::uint64_t open = open_subsystems(scheduler, now)) {
            const std::int32_t warp = pick_warp<narrow>(scheduler, open);
            const Warp& w = warps_[warp];
            issue<narrow>(w, warp, pick_stream<narrow>(w, open), now);
            state_.last_warp[scheduler] = warp;
            if (port_spacing_ != 0) break;
        }
    }
    state_.scheduler_next[scheduler] = next_issue(scheduler);
}

inline std::uint64_t Engine::ready_word(std::int32_t scheduler, std::uint64_t subsystems,
                                        int word) const {
    return union_of(ready_warps(scheduler, 0) + word, warp_words_, subsystems);
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
    return word * 64 + lowest_bit(set);
}

// `subsystems` hold at least one ready head of this scheduler's warps.
template <bool narrow>
inline std::int32_t Engine::pick_warp(std::int32_t scheduler, std::uint64_t subsystems) const {
    const std::int32_t last = state_.last_warp[scheduler];
    if (layout_.policy == Policy::gto && last != no_warp &&
        (state_.ready_subsystems[last] & subsystems) != 0)
        return last;
    if constexpr (narrow) {
        const std::uint64_t set = union_of(ready_warps(scheduler, 0), 1, subsystems);
        std::uint64_t after = set;
        if (layout_.policy == Policy::lrr && last != no_warp)
            after = set & (~std::uint64_t{1} << state_.position[last]);
        return state_.warp_at[lowest_bit(after != 0 ? after : set)];
    } else {
        std::int32_t found = -1;
        if (layout_.policy == Policy::lrr && last != no_warp)
            found = first_position(scheduler, subsystems, state_.position[last] + 1);
        if (found < 0) found = first_position(scheduler, subsystems, 0);
        return state_.warp_at[found];
    }
}

std::uint64_t Engine::ready_streams(const Warp& warp, std::uint64_t subsystems, int word) {
    return union_of(warp.subsystem_streams + word, warp.words, subsystems) & warp.ready[word];
}

// The lowest-index instruction among the ready heads. Streams stand in text order, which is program
// order except within a loop, where one stream may be iterations ahead of another.
template <bool narrow>
inline std::int32_t Engine::pick_stream(const Warp& warp, std::uint64_t subsystems) {
    if constexpr (narrow) {
        const std::uint64_t set = union_of(warp.subsystem_streams, 1, subsystems) & warp.ready[0];
        std::int32_t best = lowest_bit(set);
        for (std::uint64_t rivals = set & (set - 1) & below(warp.streams[best].top_end);
             rivals != 0; rivals &= rivals - 1) {
            const std::int32_t stream = lowest_bit(rivals);
            if (warp.heads[stream].index < warp.heads[best].index) best = stream;
        }
        return best;
    } else {
        int word = 0;
        std::uint64_t set = ready_streams(warp, subsystems, word);
        while (set == 0) set = ready_streams(warp, subsystems, ++word);
        std::int32_t best = word * 64 + lowest_bit(set);
        const std::int32_t end = warp.streams[best].top_end;
        for (; word * 64 < end; ++word)
            for_each_bit(ready_streams(warp, subsystems, word), [&](int in_word) {
                const std::int32_t stream = word * 64 + in_word;
                if (stream < end && warp.heads[stream].index < warp.heads[best].index)
                    best = stream;
            });
        return best;
    }
}

// A unit that all schedulers share is busy for all of them.
inline void Engine::occupy(std::int32_t scheduler, std::int32_t subsystem, std::int64_t cpi,
                           std::int64_t now) {
    const std::int64_t free_at = now + cpi;
    const std::int32_t own = scheduler * subsystems_ + subsystem;
    state_.subsystem_busy[own] += cpi;
    state_.subsystem_free_at[own] = free_at;
    if (schedulers_ == 1 || layout_.machine.subsystems[subsystem].scope == Scope::scheduler) return;
    for (std::int32_t other = 0; other < schedulers_; ++other)
        state_.subsystem_free_at[other * subsystems_ + subsystem] = free_at;
}

template <bool narrow>
inline void Engine::issue(const Warp& w, std::int32_t warp, std::int32_t stream, std::int64_t now) {
    const ProgramLayout::Stream& s = w.streams[stream];
    occupy(w.scheduler, s.subsystem, s.cpi, now);
    if (port_spacing_ != 0) {
        state_.port_free_at[w.scheduler] = now + port_spacing_;
        ++state_.port_issues[w.scheduler];
    }
    ++state_.issued_total;
    if (observer_) report_issue(warp, stream);
    if (s.barrier_channel >= 0) {
        arrive_at_barrier(warp, stream);
    } else if (s.waits) {
        issue_waiting(w, warp, stream);
    } else {
        if (s.completion_queue >= 0) push(s.completion_queue, warp, stream, now);
        if (s.finish_queue >= 0) push(s.finish_queue, warp, stream, now);
    }
    advance_head<narrow>(w, warp, stream);
}

template <bool narrow>
inline void Engine::advance_head(const Warp& w, std::int32_t warp, std::int32_t stream) {
    const ProgramLayout::Stream& s = w.streams[stream];
    Head& head = w.heads[stream];
    const std::int64_t issued = ++head.issued;
    std::int32_t missing = 0;
    if (--head.run_left != 0) {
        // Within a run of the innermost loop nothing outside it moves on.
        head.index += s.step;
        for (std::int32_t e = s.first_edge; e < s.last_edge; ++e) {
            const ProgramLayout::Edge edge = w.edges[e];
            const std::int64_t required =
                edge.multiplier != 0 ? issued * edge.multiplier + edge.offset : w.required[e];
            w.required[e] = required;
            missing += w.heads[edge.producer].completed < required ? 1 : 0;
        }
        head.missing = missing;
    } else {
        missing = begin_run(w, stream);
    }
    if (in_order_)
        advance_in_order<narrow>(w, warp, stream);
    else if (missing != 0)
        clear_ready<narrow>(w, warp, stream);
}

// The head moves on to the next run of the innermost loop. Returns what it waits for; 1 after the
// last instance.
std::int32_t Engine::begin_run(const Warp& w, std::int32_t stream) {
    const ProgramLayout::Stream& s = w.streams[stream];
    Head& head = w.heads[stream];
    const auto& edges = w.layout->program.edges;
    if (head.issued == s.instances) {
        for (std::int32_t e = s.first_edge; e < s.last_edge; ++e) w.required[e] = never_required;
        head.missing = 0;
        return 1;
    }
    std::int32_t missing = 0;
    head.run_left = s.run;
    head.index = w.layout->program.program_index(stream, head.issued);
    for (std::int32_t e = s.first_edge; e < s.last_edge; ++e) {
        w.required[e] = edges[e].required(head.issued);
        if (w.heads[edges[e].producer].completed < w.required[e]) ++missing;
    }
    head.missing = missing;
    return missing;
}

template <bool narrow>
inline void Engine::advance_in_order(const Warp& w, std::int32_t warp, std::int32_t stream) {
    clear_ready<narrow>(w, warp, stream);
    const std::int32_t next = following(w, stream);
    state_.next_in_order[warp] = next;
    if (next < static_cast<std::int32_t>(w.layout->streams.size()) && w.heads[next].missing == 0)
        set_ready<narrow>(w, warp, next);
}

// The stream after `stream` in program order: at a loop's end its first, while iterations are left.
std::int32_t Engine::following(const Warp& warp, std::int32_t stream) {
    std::int64_t iterations = warp.heads[stream].issued;
    const auto& loops = warp.layout->program.loops;
    for (std::int32_t l = warp.layout->program.streams[stream].loop;
         l >= 0 && loops[l].last == stream + 1; l = loops[l].parent) {
        if (iterations % loops[l].count != 0) return loops[l].first;
        iterations /= loops[l].count;
    }
    return stream + 1;
}

template <bool narrow>
inline void Engine::pop_due(std::int64_t now) {
    do {
        const std::int32_t due = state_.next_queue;
        CompletionQueue& queue = state_.queues[due];
        const QueueKind kind = layout_.queues[due];
        do complete<narrow>(queue.pop(), kind);
        while (queue.next_time() == now);
        state_.queue_next[due] = queue.next_time();
        find_next_completion();
    } while (state_.next_completion == now);
}

template <bool narrow>
inline void Engine::complete(const CompletionEvent& event, const QueueKind& kind) {
    const Warp& w = warps_[event.warp];
    if (kind.completes) {
        if (observer_)
            observer_->completed(
                {event.time, event.warp, event.stream, w.heads[event.stream].completed});
        const ProgramLayout::Stream& s = w.streams[event.stream];
        const std::int64_t completed = ++w.heads[event.stream].completed;
        for (std::int32_t u = s.first_user; u < s.last_user; ++u) {
            const auto [edge, user] = w.users[u];
            if (w.required[edge] == completed && --w.heads[user].missing == 0 &&
                (!in_order_ || state_.next_in_order[event.warp] == user))
                set_ready<narrow>(w, event.warp, user);
        }
    }
    if (kind.finishes && --state_.unfinished[w.slot] == 0) finished_slots_.push_back(w.slot);
}

template <bool narrow>
inline void Engine::set_ready(const Warp& w, std::int32_t warp, std::int32_t stream) {
    const std::int32_t subsystem = w.streams[stream].subsystem;
    const std::int32_t position = state_.position[warp];
    const std::int32_t unit = w.scheduler * subsystems_ + subsystem;
    if constexpr (narrow) {
        w.ready[0] |= bit(stream);
        state_.ready_warps[unit] |= bit(position);
    } else {
        w.ready[stream / 64] |= bit(stream);
        state_.ready_warps[unit * warp_words_ + position / 64] |= bit(position);
    }
    state_.ready_subsystems[warp] |= bit(subsystem);
    state_.ready_any[w.scheduler] |= bit(subsystem);
    std::int64_t& next = state_.scheduler_next[w.scheduler];
    next =
        std::min(next, std::max(state_.subsystem_free_at[unit], state_.port_free_at[w.scheduler]));
}

template <bool narrow>
inline void Engine::clear_ready(const Warp& w, std::int32_t warp, std::int32_t stream) {
    const std::int32_t subsystem = w.streams[stream].subsystem;
    const std::int32_t position = state_.position[warp];
    const std::int32_t unit = w.scheduler * subsystems_ + subsystem;
    if constexpr (narrow) {
        const std::uint64_t ready = w.ready[0] & ~bit(stream);
        w.ready[0] = ready;
        if ((ready & w.subsystem_streams[subsystem]) != 0) return;
        state_.ready_subsystems[warp] &= ~bit(subsystem);
        const std::uint64_t warps = state_.ready_warps[unit] & ~bit(position);
        state_.ready_warps[unit] = warps;
        state_.ready_any[w.scheduler] &= ~(std::uint64_t{warps == 0} << subsystem);
    } else {
        w.ready[stream / 64] &= ~bit(stream);
        const std::uint64_t* streams = w.subsystem_streams + subsystem * w.words;
        for (int word = 0; word < w.words; ++word)
            if ((w.ready[word] & streams[word]) != 0) return;
        state_.ready_subsystems[warp] &= ~bit(subsystem);
        std::uint64_t* warps = &state_.ready_warps[unit * warp_words_];
        warps[position / 64] &= ~bit(position);
        for (int word = 0; word < warp_words_; ++word)
            if (warps[word] != 0) return;
        state_.ready_any[w.scheduler] &= ~bit(subsystem);
    }
}

void Engine::make_ready(std::int32_t warp, std::int32_t stream) {
    set_ready<false>(warps_[warp], warp, stream);
}

}  // namespace occupipe::sim
