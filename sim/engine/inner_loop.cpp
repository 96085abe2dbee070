// SPDX-License-Identifier: MIT
// The inner loop. Its speed is that of the longest chain of machine instructions that wait for one
// another, from one issue to the next, so what it needs most lies side by side in one object that
// is nobody else's, sets are words, and where a processor can foresee the answer to a question the
// code branches, since what follows need not wait then.
#include "sim/engine/inner_loop.h"

#include <algorithm>

#include "core/error.h"
#include "sim/machine/bits.h"

namespace occupipe::sim {
namespace {

constexpr std::uint64_t all_if(bool condition) {
    return std::uint64_t{0} - std::uint64_t{condition};
}

// In a branch: the compiler must not replace it by a conditional move.
inline void keep_branch() { asm volatile(""); }

}  // namespace

bool EventEngine::advance(std::int64_t until) {
    stopped_at_ = 0;
    if (!layout_.narrow) return step_wide();
    if (observer_)
        return lists_ready_ ? run_inner<true, true>(until) : run_inner<false, true>(until);
    return lists_ready_ ? run_inner<true, false>(until) : run_inner<false, false>(until);
}

template <bool lists, bool observed>
bool EventEngine::run_inner(std::int64_t until) {
    constexpr int most = max_narrow_schedulers;
    if (lists) list_ready_heads();
    if (schedulers_ == 1)
        return units_ == 4 ? Inner<4, 1, lists, observed>(*this).run(until)
                           : Inner<8, 1, lists, observed>(*this).run(until);
    return units_ == 4 ? Inner<4, most, lists, observed>(*this).run(until)
                       : Inner<8, most, lists, observed>(*this).run(until);
}

template <int units, int max_schedulers, bool lists, bool observed>
void EventEngine::Inner<units, max_schedulers, lists, observed>::load() {
    now_ = state_.now;
    issued_ = state_.issued_total;
    std::copy(state_.subsystem_free_at.begin(), state_.subsystem_free_at.end(), free_at_.begin());
    std::copy(state_.ready_warps.begin(), state_.ready_warps.end(), ready_.begin());
    std::copy(state_.subsystem_busy.begin(), state_.subsystem_busy.end(), busy_.begin());
    std::copy(state_.scheduler_next.begin(), state_.scheduler_next.end(), turn_.begin());
    std::copy(state_.window_end.begin(), state_.window_end.end(), window_end_.begin());
    std::copy(state_.window_left.begin(), state_.window_left.end(), window_left_.begin());
    std::copy(state_.open_at.begin(), state_.open_at.end(), open_at_.begin());
    std::copy(state_.last_warp.begin(), state_.last_warp.end(), last_warp_.begin());
    std::copy(state_.last_subsystem.begin(), state_.last_subsystem.end(), last_subsystem_.begin());
    std::copy(state_.last_to.begin(), state_.last_to.end(), last_to_.begin());
    std::copy(state_.last_grant.begin(), state_.last_grant.end(), last_grant_.begin());
    const auto next_try = [this](std::int32_t warp) {
        return warp == no_warp ? ~std::uint64_t{0} : warps_[warp].next_try;
    };
    for (int s = 0; s < engine_.schedulers_; ++s) try_first_[s] = next_try(last_warp_[s]);
    for (int unit = 0; unit < engine_.schedulers_ * units; ++unit)
        ring_[unit] = next_try(last_to_[unit]);
    const auto& subsystems = engine_.layout_.machine.subsystems;
    for (std::size_t s = 0; s < subsystems.size(); ++s)
        if (!subsystems[s].per_scheduler()) shared_ |= std::uint32_t{1} << s;
    for (int group = 0; group < queue_groups_; ++group) find_next_in_group(group);
    if (observed) engine_.units_now_ = {free_at_.data(), open_at_.data()};
}

template <int units, int max_schedulers, bool lists, bool observed>
void EventEngine::Inner<units, max_schedulers, lists, observed>::store(const Due& due) {
    const auto put = [](const auto& from, auto& to) {
        std::copy_n(from.begin(), to.size(), to.begin());
    };
    state_.now = now_;
    state_.issued_total = issued_;
    engine_.listed_at_ = issued_;
    put(free_at_, state_.subsystem_free_at);
    put(ready_, state_.ready_warps);
    put(busy_, state_.subsystem_busy);
    put(turn_, state_.scheduler_next);
    put(window_end_, state_.window_end);
    put(window_left_, state_.window_left);
    put(open_at_, state_.open_at);
    put(last_warp_, state_.last_warp);
    put(last_subsystem_, state_.last_subsystem);
    put(last_to_, state_.last_to);
    put(last_grant_, state_.last_grant);
    state_.next_completion = due.time;
    state_.next_queue = due.queue;
    if (observed) engine_.units_now_ = {state_.subsystem_free_at.data(), state_.open_at.data()};
}

// Schedulers whose turn is at the same time go in rounds. Results of that time are there before.
template <int units, int max_schedulers, bool lists, bool observed>
bool EventEngine::Inner<units, max_schedulers, lists, observed>::run(std::int64_t until) {
    load();
    Due due = next_due();
    while (true) {
        std::int64_t next = turn_[0];
        for (int s = 1; s < max_schedulers && s < engine_.schedulers_; ++s)
            next = turn_[s] < next ? turn_[s] : next;
        if (due.time <= next) {
            if (due.time > max_ticks) [[unlikely]]
                return end(due.time, due);
            const std::int64_t now = due.time;
            go_to(now);
            pop_due(now, due);
            if (!engine_.finished_slots_.empty() && due.time > now) [[unlikely]] {
                store(due);
                engine_.retire_finished_groups();
                return true;
            }
        } else {
            if (next > max_ticks) [[unlikely]]
                return end(next, due);
            go_to(next);
            const bool stop = max_schedulers == 1 ? issue_alone(next, due) : issue_round(next, due);
            if (stop || issued_ >= until) [[unlikely]] {
                store(due);
                return true;
            }
        }
    }
}

template <int units, int max_schedulers, bool lists, bool observed>
[[gnu::always_inline]] inline void
EventEngine::Inner<units, max_schedulers, lists, observed>::go_to(std::int64_t now) {
    if (observed && now > now_) {
        engine_.note_waits();
        state_.now = now;
    }
    now_ = now;
}

// Nothing is left to do, or not in time.
template <int units, int max_schedulers, bool lists, bool observed>
bool EventEngine::Inner<units, max_schedulers, lists, observed>::end(std::int64_t next,
                                                                     const Due& due) {
    store(due);
    if (next == CompletionQueue::never) {
        if (observed) engine_.report_last_waits();
        return false;
    }
    throw InputError("the run takes more than 2^62 ticks; launch fewer groups");
}

// The first time at which the scheduler finds both its window open and the unit of a ready head
// free.
template <int units, int max_schedulers, bool lists, bool observed>
[[gnu::always_inline]] inline std::int64_t
EventEngine::Inner<units, max_schedulers, lists, observed>::next_issue(int scheduler) const {
    std::int64_t first = CompletionQueue::never;
#pragma GCC unroll 8
    for (int unit = scheduler * units; unit < scheduler * units + units; ++unit) {
        if (ready_[unit] == 0) continue;
        keep_branch();
        first = free_at_[unit] < first ? free_at_[unit] : first;
    }
    const std::int64_t least = std::max(open_at_[scheduler], now_);
    if (may_close_ && first != CompletionQueue::never) [[unlikely]]
        return window_->first_open(scheduler, std::max(first, least));
    if (first > least) [[unlikely]]
        return first;
    keep_branch();
    return least;
}

template <int units, int max_schedulers, bool lists, bool observed>
[[gnu::always_inline]] inline
    typename EventEngine::Inner<units, max_schedulers, lists, observed>::Pick
    EventEngine::Inner<units, max_schedulers, lists, observed>::pick(int scheduler,
                                                                     std::int64_t now) const {
    std::uint64_t open = 0;
#pragma GCC unroll 8
    for (int unit = 0; unit < units; ++unit) {
        if (ready_[scheduler * units + unit] == 0) continue;
        if (free_at_[scheduler * units + unit] > now) continue;
        open |= std::uint64_t{1} << unit;
    }
    if (max_schedulers > 1 && open == 0) return {};
    std::uint64_t positions = 0;
    std::uint64_t first = 0;
    std::int32_t unit = 0;
    if (by_subsystem_) [[likely]] {
        const std::uint64_t after = open & (~std::uint64_t{1} << last_subsystem_[scheduler]);
        unit = lowest_bit(after != 0 ? after : open);
        positions = ready_[scheduler * units + unit];
        first = positions & (rings_ ? ring_[scheduler * units + unit] : try_first_[scheduler]);
    } else {
        for_each_bit(open, [&](int u) { positions |= ready_[scheduler * units + u]; });
        first = positions & try_first_[scheduler];
    }
    const std::int32_t position = lowest_bit(first != 0 ? first : positions);
    std::int32_t warp = position;
    if (moves_) {
        keep_branch();
        warp = warp_at_[position];
    }
    const Warp& w = warps_[warp];
    if constexpr (lists) {
        if (!by_subsystem_) unit = first_listed(w, open);
        return {warp, w.lists[unit].front().stream, unit};
    }
    if (by_subsystem_) [[likely]]
        return {warp, pick_stream(w, ready_heads_[warp] & w.subsystem_streams[unit]), unit};
    const std::int32_t stream = pick_stream(w, ready_heads_[warp] & w.open_streams[open]);
    return {warp, stream, w.streams[stream].subsystem};
}

// Issues what a scheduler picked. Returns whether it is an instruction to stop after.
template <int units, int max_schedulers, bool lists, bool observed>
[[gnu::always_inline]] inline bool EventEngine::Inner<units, max_schedulers, lists, observed>::take(
    const Pick& pick, int scheduler, std::int64_t now, Due& due) {
    const Warp& w = warps_[pick.warp];
    last_warp_[scheduler] = pick.warp;
    try_first_[scheduler] = w.next_try;
    last_subsystem_[scheduler] = pick.unit;
    last_to_[scheduler * units + pick.unit] = pick.warp;
    ring_[scheduler * units + pick.unit] = w.next_try;
    if (max_schedulers > 1) last_grant_[pick.unit] = scheduler;
    issue(w, pick.warp, pick.stream, scheduler, now, due);
    if ((w.watched & bit(pick.stream)) != 0) [[unlikely]]
        return engine_.stops_after(pick.warp, pick.stream);
    return false;
}

// Issues one instruction of the only scheduler.
template <int units, int max_schedulers, bool lists, bool observed>
[[gnu::always_inline]] inline bool
EventEngine::Inner<units, max_schedulers, lists, observed>::issue_alone(std::int64_t now,
                                                                        Due& due) {
    const bool stop = take(pick(0, now), 0, now, due);
    turn_[0] = next_issue(0);
    return stop;
}

// The schedulers propose; of those that want the same shared unit, the first in its ring is granted
// it. Returns whether to stop.
template <int units, int max_schedulers, bool lists, bool observed>
[[gnu::always_inline]] inline bool
EventEngine::Inner<units, max_schedulers, lists, observed>::issue_round(std::int64_t now,
                                                                        Due& due) {
    std::array<Pick, max_schedulers> picks;
    std::array<int, units> winner{};
    std::uint32_t claimed = 0;
    std::uint64_t granted = 0;
    std::uint64_t present = 0;
    for (int s = 0; s < engine_.schedulers_; ++s) {
        if (turn_[s] > now) continue;
        present |= bit(s);
        picks[s] = pick(s, now);
        const std::int32_t unit = picks[s].unit;
        if (unit < 0) continue;
        granted |= bit(s);
        if ((shared_ >> unit & 1) == 0) continue;
        if ((claimed >> unit & 1) != 0) {
            // A later scheduler wins where the ring has passed the earlier one, but not it.
            const int other = winner[unit];
            const bool wins = other <= last_grant_[unit] && s > last_grant_[unit];
            granted &= ~bit(wins ? other : s);
            if (!wins) continue;
        }
        claimed |= std::uint32_t{1} << unit;
        winner[unit] = s;
    }
    bool stop = false;
    for_each_bit(granted, [&](int s) { stop |= take(picks[s], s, now, due); });
    for_each_bit(present, [&](int s) { turn_[s] = next_issue(s); });
    return stop;
}

// The lowest-index instruction among the ready heads. Streams stand in text order, which is program
// order unless one is iterations ahead of another.
template <int units, int max_schedulers, bool lists, bool observed>
[[gnu::always_inline]] inline std::int32_t
EventEngine::Inner<units, max_schedulers, lists, observed>::pick_stream(const Warp& warp,
                                                                        std::uint64_t set) {
    std::int32_t best = lowest_bit(set);
    std::int64_t index = warp.heads[best].index;
    for (std::uint64_t rivals = set & warp.streams[best].rivals; rivals != 0;
         rivals &= rivals - 1) {
        const std::int32_t stream = lowest_bit(rivals);
        const std::int64_t other = warp.heads[stream].index;
        const bool earlier = other < index;
        if (earlier) {
            keep_branch();
            best = stream;
            index = other;
        }
    }
    return best;
}

// Of the subsystems that are open the one whose first ready head is the first in program order.
template <int units, int max_schedulers, bool lists, bool observed>
std::int32_t EventEngine::Inner<units, max_schedulers, lists, observed>::first_listed(
    const Warp& warp, std::uint64_t open) {
    std::int32_t best = -1;
    for_each_bit(open, [&](int unit) {
        if (warp.lists[unit].empty()) return;
        if (best < 0 || warp.lists[unit].front().index < warp.lists[best].front().index)
            best = unit;
    });
    return best;
}

// A unit that all schedulers share is busy for all of them.
template <int units, int max_schedulers, bool lists, bool observed>
[[gnu::always_inline]] inline void
EventEngine::Inner<units, max_schedulers, lists, observed>::occupy(const ProgramLayout::Stream& s,
                                                                   int scheduler,
                                                                   std::int64_t now) {
    busy_[scheduler * units + s.subsystem] += s.cpi;
    free_at_[scheduler * units + s.subsystem] = now + s.cpi;
    if (window_ != nullptr) use_window(scheduler, now);
    ++issued_;
    if (max_schedulers == 1 || s.own_unit) return;
    for (int other = 0; other < engine_.schedulers_; ++other)
        free_at_[other * units + s.subsystem] = now + s.cpi;
}

// As EventEngine::use_window().
template <int units, int max_schedulers, bool lists, bool observed>
[[gnu::always_inline]] inline void
EventEngine::Inner<units, max_schedulers, lists, observed>::use_window(int scheduler,
                                                                       std::int64_t now) {
    if (now >= window_end_[scheduler]) {
        window_end_[scheduler] = window_->end_of_cycle(now);
        window_left_[scheduler] = window_->allowed_until(scheduler, window_end_[scheduler]);
    }
    if (--window_left_[scheduler] == 0)
        open_at_[scheduler] = window_->first_open(scheduler, window_end_[scheduler]);
}

template <int units, int max_schedulers, bool lists, bool observed>
[[gnu::always_inline]] inline void
EventEngine::Inner<units, max_schedulers, lists, observed>::issue(const Warp& w, std::int32_t warp,
                                                                  std::int32_t stream,
                                                                  int scheduler, std::int64_t now,
                                                                  Due& due) {
    const ProgramLayout::Stream& s = w.streams[stream];
    occupy(s, scheduler, now);
    Head& head = w.heads[stream];
    if (observed) {
        engine_.report_issue(warp, stream);
        engine_.touch(warp);
    }
    ++head.issued;
    std::uint64_t credits = 0;
    if (--head.run_left != 0) [[likely]] {
        // Within a run of the innermost loop nothing outside it moves on.
        head.index += s.step;
        const std::uint64_t low = w.credits[2 * stream] - w.credit_steps[2 * stream];
        const std::uint64_t high = w.credits[2 * stream + 1] - w.credit_steps[2 * stream + 1];
        w.credits[2 * stream] = low;
        w.credits[2 * stream + 1] = high;
        credits = low | high;
    } else {
        engine_.begin_run(w, stream);
        credits = w.credits[2 * stream] | w.credits[2 * stream + 1];
    }
    if (s.only_queue >= 0) [[likely]]
        push(s.only_queue, completion(w, warp, stream, now + s.delay), due);
    else
        due = issue_rare(w, warp, stream);
    if (!in_order_) [[likely]] {
        settle((credits & signs_) == 0, w, warp, stream, s.subsystem);
        return;
    }
    settle(false, w, warp, stream, s.subsystem);
    const std::int32_t next = following(w, stream);
    state_.next_in_order[warp] = next;
    if (next < static_cast<std::int32_t>(w.layout->streams.size()) && satisfied(w, next))
        settle(true, w, warp, next, w.streams[next].subsystem);
}

template <int units, int max_schedulers, bool lists, bool observed>
typename EventEngine::Inner<units, max_schedulers, lists, observed>::Due
EventEngine::Inner<units, max_schedulers, lists, observed>::issue_rare(const Warp& w,
                                                                       std::int32_t warp,
                                                                       std::int32_t stream) {
    state_.now = now_;
    engine_.issue_rare(w, warp, stream);
    for (int group = 0; group < queue_groups_; ++group) find_next_in_group(group);
    return next_due();
}

template <int units, int max_schedulers, bool lists, bool observed>
[[gnu::always_inline]] inline void EventEngine::Inner<units, max_schedulers, lists, observed>::push(
    std::int32_t queue, const CompletionEvent& event, Due& due) {
    queues_[queue].push(event);
    // Events of one queue are in order: only the first one counts.
    if (queue_next_[queue] != CompletionQueue::never) [[likely]]
        return;
    queue_next_[queue] = event.time;
    const int group = queue / queue_step;
    if (event.time >= group_next_[group]) return;
    group_next_[group] = event.time;
    group_queue_[group] = queue;
    if (event.time >= due.time) return;
    due = {event.time, queue};
}

template <int units, int max_schedulers, bool lists, bool observed>
[[gnu::always_inline]] inline void
EventEngine::Inner<units, max_schedulers, lists, observed>::find_next_in_group(int group) {
    const std::int64_t* const next = queue_next_ + group * queue_step;
    std::int32_t queue = 0;
    std::int64_t first = next[0];
#pragma GCC unroll 4
    for (int q = 1; q < queue_step; ++q) {
        queue = next[q] < first ? q : queue;
        first = next[q] < first ? next[q] : first;
    }
    group_next_[group] = first;
    group_queue_[group] = group * queue_step + queue;
}

template <int units, int max_schedulers, bool lists, bool observed>
[[gnu::always_inline]] inline
    typename EventEngine::Inner<units, max_schedulers, lists, observed>::Due
    EventEngine::Inner<units, max_schedulers, lists, observed>::next_due() const {
    std::int64_t first = group_next_[0];
    int group = 0;
    for (int g = 1; g < queue_groups_; ++g) {
        group = group_next_[g] < first ? g : group;
        first = group_next_[g] < first ? group_next_[g] : first;
    }
    return {first, group_queue_[group]};
}

// After an issue: the head is ready or not, and the scheduler's turn is not known yet.
template <int units, int max_schedulers, bool lists, bool observed>
[[gnu::always_inline]] inline void
EventEngine::Inner<units, max_schedulers, lists, observed>::settle(bool ready, const Warp& w,
                                                                   std::int32_t warp,
                                                                   std::int32_t stream,
                                                                   std::int32_t subsystem) {
    const int unit = scheduler_of(w) * units + subsystem;
    if constexpr (lists) {
        ReadyList& list = w.lists[subsystem];
        std::uint64_t& word = w.ready[stream >> 6];
        if ((word & bit(stream)) != 0) list.pop_front();  // it has just issued
        if (ready) {
            list.insert(w.heads[stream].index, stream);
            word |= bit(stream);
        } else {
            word &= ~bit(stream);
        }
        if (list.empty())
            ready_[unit] &= ~w.place;
        else
            ready_[unit] |= w.place;
        return;
    }
    if (ready) {
        ready_heads_[warp] |= bit(stream);
        ready_[unit] |= w.place;
        return;
    }
    const std::uint64_t heads = ready_heads_[warp] & ~bit(stream);
    ready_heads_[warp] = heads;
    ready_[unit] &= ~(w.place & all_if((heads & w.subsystem_streams[subsystem]) == 0));
}

template <int units, int max_schedulers, bool lists, bool observed>
[[gnu::always_inline]] inline void
EventEngine::Inner<units, max_schedulers, lists, observed>::pop_due(std::int64_t now, Due& due) {
    CompletionQueue& queue = queues_[due.queue];
    const CompletionEvent& event = queue.pop();
    queue_next_[due.queue] = queue.next_time();
    complete(event, kinds_[due.queue], now);
    find_next_in_group(due.queue / queue_step);
    due = next_due();
}

template <int units, int max_schedulers, bool lists, bool observed>
[[gnu::always_inline]] inline void
EventEngine::Inner<units, max_schedulers, lists, observed>::complete(const CompletionEvent& event,
                                                                     const QueueKind& kind,
                                                                     std::int64_t now) {
    const Warp& w = warps_[event.warp];
    // Where a head is ready, only one that becomes so, too, changes what the warp waits for.
    if (observed && engine_.waits_[event.warp].unit < 0) engine_.touch(event.warp);
    if (kind.completes) {
        if (observed) engine_.report_completion(event);
        ++w.heads[event.stream].completed;
        const int first_unit = scheduler_of(w) * units;
        const std::int64_t earliest = std::max(open_at_[scheduler_of(w)], now);
        std::int64_t turn = turn_[scheduler_of(w)];
        for (const UserEdge* edge = event.first_user; edge != event.last_user; ++edge) {
            // Both words of the user, without reading back what has just been written.
            const std::uint64_t credit = w.credits[edge->word] + edge->credit;
            w.credits[edge->word] = credit;
            if (in_order_ && state_.next_in_order[event.warp] != edge->user) continue;
            if (((credit | w.credits[edge->word ^ 1]) & signs_) != 0) continue;
            if constexpr (lists) {
                std::uint64_t& word = w.ready[edge->user >> 6];
                if ((word & bit(edge->user)) != 0) continue;  // since earlier
                word |= bit(edge->user);
                w.lists[edge->subsystem].insert(w.heads[edge->user].index, edge->user);
            } else {
                ready_heads_[event.warp] |= edge->head;
            }
            if (observed) engine_.touch(event.warp);
            ready_[first_unit + edge->subsystem] |= w.place;
            const std::int64_t free = free_at_[first_unit + edge->subsystem];
            std::int64_t from = free > earliest ? free : earliest;
            if (may_close_) [[unlikely]]
                from = window_->first_open(scheduler_of(w), from);
            turn = from < turn ? from : turn;
        }
        turn_[scheduler_of(w)] = turn;
    }
    if (kind.finishes && --*w.unfinished == 0) [[unlikely]]
        engine_.finished_slots_.push_back(w.slot);
}

}  // namespace occupipe::sim
