// SPDX-License-Identifier: MIT
// The inner loop. Its speed is that of the longest chain of machine instructions that wait for one
// another, from one issue to the next, so what it needs most lies side by side in one object that
// is nobody else's, sets are words, and where a processor can foresee the answer to a question the
// code branches, since what follows need not wait then.
#include <algorithm>

#include "core/error.h"
#include "sim/bits.h"
#include "sim/inner_loop.h"

namespace occupipe::sim {
namespace {

constexpr std::uint64_t all_if(bool condition) {
    return std::uint64_t{0} - std::uint64_t{condition};
}

// In a branch: the compiler must not replace it by a conditional move.
inline void keep_branch() { asm volatile(""); }

}  // namespace

bool Engine::run(std::int64_t until) {
    stopped_at_ = 0;
    if (!layout_.narrow || observer_) return step_wide();
    if (schedulers_ == 1)
        return units_ == 4 ? Inner<4, 1>(*this).run(until) : Inner<8, 1>(*this).run(until);
    return units_ == 4 ? Inner<4, max_narrow_schedulers>(*this).run(until)
                       : Inner<8, max_narrow_schedulers>(*this).run(until);
}

template <int units, int max_schedulers>
void Engine::Inner<units, max_schedulers>::load() {
    now_ = state_.now;
    issued_ = state_.issued_total;
    std::copy(state_.subsystem_free_at.begin(), state_.subsystem_free_at.end(), free_at_.begin());
    std::copy(state_.ready_warps.begin(), state_.ready_warps.end(), ready_.begin());
    std::copy(state_.subsystem_busy.begin(), state_.subsystem_busy.end(), busy_.begin());
    std::copy(state_.scheduler_next.begin(), state_.scheduler_next.end(), turn_.begin());
    std::copy(state_.port_free_at.begin(), state_.port_free_at.end(), port_free_at_.begin());
    std::copy(state_.port_issues.begin(), state_.port_issues.end(), port_issues_.begin());
    std::copy(state_.last_warp.begin(), state_.last_warp.end(), last_warp_.begin());
    for (int s = 0; s < engine_.schedulers_; ++s)
        try_first_[s] =
            last_warp_[s] == no_warp ? ~std::uint64_t{0} : warps_[last_warp_[s]].next_try;
    for (int group = 0; group < queue_groups_; ++group) find_next_in_group(group);
}

template <int units, int max_schedulers>
void Engine::Inner<units, max_schedulers>::store(const Due& due) {
    const auto put = [](const auto& from, auto& to) {
        std::copy_n(from.begin(), to.size(), to.begin());
    };
    state_.now = now_;
    state_.issued_total = issued_;
    put(free_at_, state_.subsystem_free_at);
    put(ready_, state_.ready_warps);
    put(busy_, state_.subsystem_busy);
    put(turn_, state_.scheduler_next);
    put(port_free_at_, state_.port_free_at);
    put(port_issues_, state_.port_issues);
    put(last_warp_, state_.last_warp);
    state_.next_completion = due.time;
    state_.next_queue = due.queue;
}

// Among schedulers whose turn is at the same time the first goes first, and goes on until its turn
// is later. Results of that time are there before.
template <int units, int max_schedulers>
bool Engine::Inner<units, max_schedulers>::run(std::int64_t until) {
    load();
    Due due = next_due();
    while (true) {
        std::int64_t next = turn_[0];
        int scheduler = 0;
        for (int s = 1; s < max_schedulers && s < engine_.schedulers_; ++s) {
            scheduler = turn_[s] < next ? s : scheduler;
            next = turn_[s] < next ? turn_[s] : next;
        }
        if (due.time <= next) {
            if (due.time > max_ticks) [[unlikely]]
                return end(due.time, due);
            const std::int64_t now = due.time;
            now_ = now;
            pop_due(now, due);
            if (!engine_.finished_slots_.empty() && due.time > now) [[unlikely]] {
                store(due);
                engine_.retire_finished_groups();
                return true;
            }
        } else {
            if (next > max_ticks) [[unlikely]]
                return end(next, due);
            now_ = next;
            if (schedule(scheduler, next, due) || issued_ >= until) [[unlikely]] {
                store(due);
                return true;
            }
        }
    }
}

// Nothing is left to do, or not in time.
template <int units, int max_schedulers>
bool Engine::Inner<units, max_schedulers>::end(std::int64_t next, const Due& due) {
    store(due);
    if (next == CompletionQueue::never) return false;
    throw InputError("the run takes more than 2^62 ticks; launch fewer groups");
}

// The first time at which the scheduler finds both its port and the unit of a ready head free.
template <int units, int max_schedulers>
[[gnu::always_inline]] inline std::int64_t Engine::Inner<units, max_schedulers>::next_issue(
    int scheduler) const {
    std::int64_t first = CompletionQueue::never;
#pragma GCC unroll 8
    for (int unit = scheduler * units; unit < scheduler * units + units; ++unit) {
        if (ready_[unit] == 0) continue;
        keep_branch();
        first = free_at_[unit] < first ? free_at_[unit] : first;
    }
    const std::int64_t port = port_free_at_[scheduler];
    if (first > port) [[unlikely]]
        return first;
    keep_branch();
    return port;
}

// Issues one instruction, unless another scheduler has taken the unit meanwhile. Returns whether
// it is one to stop after.
template <int units, int max_schedulers>
[[gnu::always_inline]] inline bool Engine::Inner<units, max_schedulers>::schedule(int scheduler,
                                                                                  std::int64_t now,
                                                                                  Due& due) {
    std::uint64_t positions = 0;
    std::uint64_t open = 0;
#pragma GCC unroll 8
    for (int unit = 0; unit < units; ++unit) {
        if (free_at_[scheduler * units + unit] > now) continue;
        open |= std::uint64_t{1} << unit;
        positions |= ready_[scheduler * units + unit];
    }
    bool stop = false;
    if (max_schedulers == 1 || positions != 0) {
        const std::uint64_t first = positions & try_first_[scheduler];
        const std::int32_t position = lowest_bit(first != 0 ? first : positions);
        std::int32_t warp = position;
        if (moves_) {
            keep_branch();
            warp = warp_at_[position];
        }
        const Warp& w = warps_[warp];
        const std::uint64_t* const open_streams =
            common_open_streams_ ? common_open_streams_ : w.open_streams;
        const std::int32_t stream = pick_stream(w, ready_heads_[warp] & open_streams[open]);
        last_warp_[scheduler] = warp;
        try_first_[scheduler] = w.next_try;
        issue(w, warp, stream, scheduler, now, due);
        if ((w.watched >> stream & 1) != 0) [[unlikely]]
            stop = engine_.stops_after(warp, stream);
    }
    turn_[scheduler] = next_issue(scheduler);
    return stop;
}

// The lowest-index instruction among the ready heads. Streams stand in text order, which is program
// order unless one is iterations ahead of another.
template <int units, int max_schedulers>
[[gnu::always_inline]] inline std::int32_t Engine::Inner<units, max_schedulers>::pick_stream(
    const Warp& warp, std::uint64_t set) {
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

// A unit that all schedulers share is busy for all of them.
template <int units, int max_schedulers>
[[gnu::always_inline]] inline void Engine::Inner<units, max_schedulers>::occupy(
    const ProgramLayout::Stream& s, int scheduler, std::int64_t now) {
    busy_[scheduler * units + s.subsystem] += s.cpi;
    free_at_[scheduler * units + s.subsystem] = now + s.cpi;
    port_free_at_[scheduler] = now + spacing_;
    ++port_issues_[scheduler];
    ++issued_;
    if (max_schedulers == 1 || s.own_unit) return;
    for (int other = 0; other < engine_.schedulers_; ++other)
        free_at_[other * units + s.subsystem] = now + s.cpi;
}

template <int units, int max_schedulers>
[[gnu::always_inline]] inline void Engine::Inner<units, max_schedulers>::issue(
    const Warp& w, std::int32_t warp, std::int32_t stream, int scheduler, std::int64_t now,
    Due& due) {
    const ProgramLayout::Stream& s = w.streams[stream];
    occupy(s, scheduler, now);
    Head& head = w.heads[stream];
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

template <int units, int max_schedulers>
typename Engine::Inner<units, max_schedulers>::Due Engine::Inner<units, max_schedulers>::issue_rare(
    const Warp& w, std::int32_t warp, std::int32_t stream) {
    state_.now = now_;
    engine_.issue_rare(w, warp, stream);
    for (int group = 0; group < queue_groups_; ++group) find_next_in_group(group);
    return next_due();
}

template <int units, int max_schedulers>
[[gnu::always_inline]] inline void Engine::Inner<units, max_schedulers>::push(
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

template <int units, int max_schedulers>
[[gnu::always_inline]] inline void Engine::Inner<units, max_schedulers>::find_next_in_group(
    int group) {
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

template <int units, int max_schedulers>
[[gnu::always_inline]] inline typename Engine::Inner<units, max_schedulers>::Due
Engine::Inner<units, max_schedulers>::next_due() const {
    std::int64_t first = group_next_[0];
    int group = 0;
    for (int g = 1; g < queue_groups_; ++g) {
        group = group_next_[g] < first ? g : group;
        first = group_next_[g] < first ? group_next_[g] : first;
    }
    return {first, group_queue_[group]};
}

// After an issue: the head is ready or not, and the scheduler's turn is not known yet.
template <int units, int max_schedulers>
[[gnu::always_inline]] inline void Engine::Inner<units, max_schedulers>::settle(
    bool ready, const Warp& w, std::int32_t warp, std::int32_t stream, std::int32_t subsystem) {
    const int unit = scheduler_of(w) * units + subsystem;
    if (ready) {
        ready_heads_[warp] |= bit(stream);
        ready_[unit] |= w.place;
        return;
    }
    const std::uint64_t heads = ready_heads_[warp] & ~bit(stream);
    ready_heads_[warp] = heads;
    ready_[unit] &= ~(w.place & all_if((heads & w.subsystem_streams[subsystem]) == 0));
}

template <int units, int max_schedulers>
[[gnu::always_inline]] inline void Engine::Inner<units, max_schedulers>::pop_due(std::int64_t now,
                                                                                 Due& due) {
    CompletionQueue& queue = queues_[due.queue];
    const CompletionEvent& event = queue.pop();
    queue_next_[due.queue] = queue.next_time();
    complete(event, kinds_[due.queue], now);
    find_next_in_group(due.queue / queue_step);
    due = next_due();
}

template <int units, int max_schedulers>
[[gnu::always_inline]] inline void Engine::Inner<units, max_schedulers>::complete(
    const CompletionEvent& event, const QueueKind& kind, std::int64_t now) {
    const Warp& w = warps_[event.warp];
    if (kind.completes) {
        ++w.heads[event.stream].completed;
        const int first_unit = scheduler_of(w) * units;
        const std::int64_t earliest = std::max(port_free_at_[scheduler_of(w)], now);
        std::int64_t turn = turn_[scheduler_of(w)];
        for (const UserEdge* edge = event.first_user; edge != event.last_user; ++edge) {
            // Both words of the user, without reading back what has just been written.
            const std::uint64_t credit = w.credits[edge->word] + edge->credit;
            w.credits[edge->word] = credit;
            if (in_order_ && state_.next_in_order[event.warp] != edge->user) continue;
            if (((credit | w.credits[edge->word ^ 1]) & signs_) != 0) continue;
            ready_heads_[event.warp] |= edge->head;
            ready_[first_unit + edge->subsystem] |= w.place;
            const std::int64_t free = free_at_[first_unit + edge->subsystem];
            const std::int64_t from = free > earliest ? free : earliest;
            turn = from < turn ? from : turn;
        }
        turn_[scheduler_of(w)] = turn;
    }
    if (kind.finishes && --*w.unfinished == 0) [[unlikely]]
        engine_.finished_slots_.push_back(w.slot);
}

}  // namespace occupipe::sim
