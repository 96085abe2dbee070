// SPDX-License-Identifier: MIT
// The inner loop. It is written for few machine instructions and few branches that no processor
// can foresee: where an answer is as likely yes as no, both are computed and one is masked out.
#include "sim/engine.h"

#include <algorithm>

#include "core/error.h"
#include "sim/bits.h"

namespace occupipe::sim {
namespace {

constexpr std::uint64_t all_if(bool condition) {
    return std::uint64_t{0} - std::uint64_t{condition};
}

// A time of at least 0 united with it is CompletionQueue::never, or stays what it is.
constexpr std::uint64_t never_if(bool condition) { return all_if(condition) >> 1; }

}  // namespace

bool Engine::run(std::int64_t until) {
    if (!layout_.narrow || observer_) return step_wide();
    if (schedulers_ == 1)
        return units_ == 4 ? run_narrow<4, true>(until) : run_narrow<8, true>(until);
    return units_ == 4 ? run_narrow<4, false>(until) : run_narrow<8, false>(until);
}

// Among schedulers whose turn is at the same time the first goes first, and goes on until its turn
// is later. Results of that time are there before.
template <int units, bool single>
bool Engine::run_narrow(std::int64_t until) {
    while (true) {
        const std::int64_t* const turns = state_.scheduler_next.data();
        std::int64_t next = turns[0];
        std::int32_t scheduler = 0;
        for (std::int32_t s = 1; !single && s < schedulers_; ++s) {
            scheduler = turns[s] < next ? s : scheduler;
            next = turns[s] < next ? turns[s] : next;
        }
        const bool completes = state_.next_completion <= next;
        if (completes) next = state_.next_completion;
        if (next > max_ticks) {
            if (next == CompletionQueue::never) return false;
            throw InputError("the run takes more than 2^62 ticks; launch fewer groups");
        }
        state_.now = next;
        if (!completes) {
            if (schedule<units, single>(scheduler, next) || state_.issued_total >= until)
                return true;
            continue;
        }
        pop_due<units, single>(next);
        if (!finished_slots_.empty() && state_.next_completion > next) [[unlikely]] {
            retire_finished_groups();
            return true;
        }
    }
}

// The first time at which the scheduler finds both its port and the unit of a ready head free.
template <int units, bool single>
[[gnu::always_inline]] inline std::int64_t Engine::next_issue(std::int32_t scheduler) const {
    const std::int64_t* const free_at = &state_.subsystem_free_at[scheduler * units];
    const std::uint64_t* const ready = &state_.ready_warps[scheduler * units];
    std::int64_t first = CompletionQueue::never;
#pragma GCC unroll 8
    for (int unit = 0; unit < units; ++unit) {
        const auto time = static_cast<std::int64_t>(static_cast<std::uint64_t>(free_at[unit]) |
                                                    never_if(ready[unit] == 0));
        first = time < first ? time : first;
    }
    return std::max(first, state_.port_free_at[scheduler]);
}

// Issues one instruction, unless another scheduler has taken the unit meanwhile. Returns whether
// the stream is watched.
template <int units, bool single>
[[gnu::always_inline]] inline bool Engine::schedule(std::int32_t scheduler, std::int64_t now) {
    const std::int64_t* const free_at = &state_.subsystem_free_at[scheduler * units];
    const std::uint64_t* const ready = &state_.ready_warps[scheduler * units];
    std::uint64_t positions = 0;
    std::uint64_t open = 0;
#pragma GCC unroll 8
    for (int unit = 0; unit < units; ++unit) {
        const bool is_free = free_at[unit] <= now;
        open |= std::uint64_t{is_free} << unit;
        positions |= ready[unit] & all_if(is_free);
    }
    bool watched = false;
    if (positions != 0) {
        const std::uint64_t first = positions & try_first_[scheduler];
        const std::int32_t warp = state_.warp_at[lowest_bit(first != 0 ? first : positions)];
        const Warp& w = warps_[warp];
        const std::int32_t stream = pick_stream(w, *w.ready & w.open_streams[open]);
        state_.last_warp[scheduler] = warp;
        try_first_[scheduler] = w.next_try;
        issue<units, single>(w, warp, stream, now);
        watched = (w.watched >> stream & 1) != 0;
    }
    state_.scheduler_next[scheduler] = next_issue<units, single>(scheduler);
    return watched;
}

// The lowest-index instruction among the ready heads. Streams stand in text order, which is program
// order except within a loop, where one stream may be iterations ahead of another.
[[gnu::always_inline]] inline std::int32_t Engine::pick_stream(const Warp& warp,
                                                               std::uint64_t set) {
    std::int32_t best = lowest_bit(set);
    const std::uint64_t rivals = set & warp.streams[best].rivals;
    // One rival is common, two are not.
    const std::int32_t rival = rivals != 0 ? lowest_bit(rivals) : best;
    std::int64_t index = warp.heads[best].index;
    best = warp.heads[rival].index < index ? rival : best;
    for (std::uint64_t rest = rivals & (rivals - 1); rest != 0; rest &= rest - 1) {
        const std::int32_t stream = lowest_bit(rest);
        best = warp.heads[stream].index < warp.heads[best].index ? stream : best;
    }
    return best;
}

// A unit that all schedulers share is busy for all of them.
template <int units, bool single>
[[gnu::always_inline]] inline void Engine::occupy(const Warp& w, std::int32_t subsystem,
                                                  std::int64_t cpi, std::int64_t now) {
    const std::int32_t unit = (single ? 0 : w.scheduler * units) + subsystem;
    state_.subsystem_busy[unit] += cpi;
    state_.subsystem_free_at[unit] = now + cpi;
    if (single || layout_.machine.subsystems[subsystem].scope == Scope::scheduler) return;
    for (std::int32_t other = 0; other < schedulers_; ++other)
        state_.subsystem_free_at[other * units + subsystem] = now + cpi;
}

[[gnu::always_inline]] inline bool Engine::satisfied(const Warp& w, std::int32_t stream) const {
    return ((w.credits[2 * stream] | w.credits[2 * stream + 1]) & signs_) == 0;
}

template <int units, bool single>
[[gnu::always_inline]] inline void Engine::issue(const Warp& w, std::int32_t warp,
                                                 std::int32_t stream, std::int64_t now) {
    const ProgramLayout::Stream& s = w.streams[stream];
    occupy<units, single>(w, s.subsystem, s.cpi, now);
    state_.port_free_at[single ? 0 : w.scheduler] = now + port_spacing_;
    ++state_.port_issues[single ? 0 : w.scheduler];
    ++state_.issued_total;
    if (s.only_queue >= 0)
        push(s.only_queue, warp, stream, now + s.delay);
    else
        issue_rare(w, warp, stream);
    Head& head = w.heads[stream];
    ++head.issued;
    if (--head.run_left != 0) {
        // Within a run of the innermost loop nothing outside it moves on.
        head.index += s.step;
        w.credits[2 * stream] -= w.credit_steps[2 * stream];
        w.credits[2 * stream + 1] -= w.credit_steps[2 * stream + 1];
    } else {
        begin_run(w, stream);
    }
    if (!in_order_) {
        settle<units, single>(satisfied(w, stream), w, stream, s.subsystem);
        return;
    }
    settle<units, single>(false, w, stream, s.subsystem);
    const std::int32_t next = following(w, stream);
    state_.next_in_order[warp] = next;
    if (next < static_cast<std::int32_t>(w.layout->streams.size()) && satisfied(w, next))
        settle<units, single>(true, w, next, w.streams[next].subsystem);
}

// After an issue: the head is ready or not, and the scheduler's turn is not known yet.
template <int units, bool single>
[[gnu::always_inline]] inline void Engine::settle(bool ready, const Warp& w, std::int32_t stream,
                                                  std::int32_t subsystem) {
    const std::uint64_t heads = (*w.ready & ~bit(stream)) | std::uint64_t{ready} << stream;
    *w.ready = heads;
    const bool any = (heads & w.subsystem_streams[subsystem]) != 0;
    std::uint64_t& warps = state_.ready_warps[(single ? 0 : w.scheduler) * units + subsystem];
    warps = (warps & ~w.place) | (w.place & all_if(any));
}

template <int units, bool single>
[[gnu::always_inline]] inline void Engine::pop_due(std::int64_t now) {
    const std::int32_t due = state_.next_queue;
    CompletionQueue& queue = state_.queues[due];
    const QueueKind& kind = layout_.queues[due];
    do complete<units, single>(queue.pop(), kind);
    while (queue.next_time() == now);
    state_.queue_next[due] = queue.next_time();
    find_next_completion();
}

template <int units, bool single>
[[gnu::always_inline]] inline void Engine::complete(const CompletionEvent& event,
                                                    const QueueKind& kind) {
    const Warp& w = warps_[event.warp];
    if (kind.completes) {
        const ProgramLayout::Stream& s = w.streams[event.stream];
        ++w.heads[event.stream].completed;
        const std::int64_t* const free_at =
            &state_.subsystem_free_at[(single ? 0 : w.scheduler) * units];
        std::uint64_t* const warps = &state_.ready_warps[(single ? 0 : w.scheduler) * units];
        const std::int64_t earliest =
            std::max(state_.port_free_at[single ? 0 : w.scheduler], state_.now);
        const ProgramLayout::UserEdge* const end = w.users + s.last_user;
        std::int64_t turn = state_.scheduler_next[single ? 0 : w.scheduler];
        for (const ProgramLayout::UserEdge* edge = w.users + s.first_user; edge != end; ++edge) {
            w.credits[edge->word] += edge->credit;
            if (in_order_ && state_.next_in_order[event.warp] != edge->user) continue;
            const std::uint64_t ready = all_if(satisfied(w, edge->user));
            *w.ready |= edge->head & ready;
            warps[edge->subsystem] |= w.place & ready;
            const std::int64_t free = free_at[edge->subsystem];
            const auto from = static_cast<std::int64_t>(
                static_cast<std::uint64_t>(free > earliest ? free : earliest) | ~ready >> 1);
            turn = from < turn ? from : turn;
        }
        state_.scheduler_next[single ? 0 : w.scheduler] = turn;
    }
    if (kind.finishes && --*w.unfinished == 0) [[unlikely]]
        finished_slots_.push_back(w.slot);
}

}  // namespace occupipe::sim
