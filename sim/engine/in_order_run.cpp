// SPDX-License-Identifier: MIT
// The in-order engine's run loop. Each scheduler has planned what it does next: when, and to which
// subsystem it issues. A plan stands until a warp wakes up, which may come before it, or another
// scheduler is granted the shared unit that it counts on; so nothing is looked for twice, and a
// time at which nothing can issue is never visited.
#include <algorithm>

#include "core/error.h"
#include "sim/engine/in_order_engine.h"
#include "sim/machine/bits.h"

namespace occupipe::sim {

template <InOrderEngine::Shape shape>
[[gnu::always_inline]] inline std::int64_t InOrderEngine::free_time(int scheduler,
                                                                    int subsystem) const {
    const int unit = scheduler * units + subsystem;
    return s_.free_at[shape.schedulers == 1 ? unit : free_slot_[unit]];
}

// What the scheduler does next, if it may not issue before `from`.
template <InOrderEngine::Shape shape>
[[gnu::always_inline]] inline void InOrderEngine::plan_from(int scheduler, std::int64_t from) {
    const std::uint64_t* const ready = s_.ready.data() + scheduler * units;
    const int after = s_.last_subsystem[scheduler] + 1;
    // Branches would be foreseen wrongly, hence a mask: all ones but the sign if nothing is ready.
    const auto time_of = [&](int s) {
        const std::int64_t free = free_time<shape>(scheduler, s);
        const std::uint64_t empty = std::uint64_t{0} - static_cast<std::uint64_t>(ready[s] == 0);
        return (free > from ? free : from) | static_cast<std::int64_t>(empty >> 1);
    };
    int choice = after & (shape.subsystems - 1);
    std::int64_t turn = time_of(choice);
#pragma GCC unroll 8
    for (int i = 1; i < shape.subsystems; ++i) {
        const int s = (after + i) & (shape.subsystems - 1);
        const std::int64_t time = time_of(s);
        choice = time < turn ? s : choice;
        turn = time < turn ? time : turn;
    }
    s_.turn[scheduler] = turn;
    s_.choice[scheduler] = choice;
}

template <InOrderEngine::Shape shape>
[[gnu::always_inline]] inline void InOrderEngine::plan(int scheduler, std::int64_t now) {
    const std::int64_t open = s_.open_at[scheduler];
    plan_from<shape>(scheduler, open > now ? open : now);
    if (may_close_) [[unlikely]] {
        const std::int64_t turn = s_.turn[scheduler];
        if (turn == never) return;
        // Until the window opens other units may become free, too.
        const std::int64_t first = window_->first_open(scheduler, turn);
        if (first > turn) plan_from<shape>(scheduler, first);
    }
}

template <InOrderEngine::Shape shape>
[[gnu::always_inline]] inline void InOrderEngine::wake_up(std::int32_t warp, std::int64_t now) {
    const Warp& w = warps_[warp];
    const int unit = w.unit;
    const int j = shape.schedulers == 1 ? 0 : w.scheduler;
    const int s = unit - j * units;
    s_.ready[unit] |= w.place;
    if (shape.observed) account_.ready_since[warp] = now;
    if (may_close_) [[unlikely]] {
        plan<shape>(j, now);
        return;
    }
    const std::int64_t free = free_time<shape>(j, s);
    const std::int64_t open = s_.open_at[j];
    std::int64_t time = free > open ? free : open;
    time = time > now ? time : now;
    const std::int64_t turn = s_.turn[j];
    const int choice = s_.choice[j];
    const int after = s_.last_subsystem[j] + 1;
    const bool nearer = ((s - after) & (shape.subsystems - 1)) <
                        ((choice - after) & (shape.subsystems - 1));
    const bool better = (time < turn) | ((time == turn) & nearer);
    s_.turn[j] = better ? time : turn;
    s_.choice[j] = better ? s : choice;
}

// The warp that issues to what the scheduler has chosen.
template <InOrderEngine::Shape shape>
[[gnu::always_inline]] inline std::int32_t InOrderEngine::choose_warp(int scheduler) const {
    if (shape.choice == Choice::warp_first) return proposed_[scheduler];
    const int unit = scheduler * units + s_.choice[scheduler];
    const std::uint64_t positions = s_.ready[unit];
    const bool own_ring = shape.choice == Choice::ring_per_subsystem;
    const std::uint64_t first = positions & (own_ring ? s_.ring[unit] : try_first_[scheduler]);
    const int position = lowest_bit(first != 0 ? first : positions);
    return own_ring ? position : s_.warp_at[position];
}

// Select::warp: the first warp in policy order that can issue now, whose subsystem becomes the
// scheduler's choice.
template <InOrderEngine::Shape shape>
inline void InOrderEngine::propose_warp(int scheduler, std::int64_t now) {
    std::uint64_t positions = 0;
    for (int s = 0; s < shape.subsystems; ++s)
        if (free_time<shape>(scheduler, s) <= now) positions |= s_.ready[scheduler * units + s];
    const std::uint64_t first = positions & try_first_[scheduler];
    const std::int32_t warp = s_.warp_at[lowest_bit(first != 0 ? first : positions)];
    proposed_[scheduler] = warp;
    s_.choice[scheduler] = warps_[warp].unit - scheduler * units;
}

// The schedulers that issue at `now`, a set.
template <InOrderEngine::Shape shape>
[[gnu::always_inline]] inline std::uint32_t InOrderEngine::propose(std::int64_t now) {
    std::uint32_t present = 0;
#pragma GCC unroll 8
    for (int j = 0; j < shape.schedulers; ++j)
        present |= static_cast<std::uint32_t>(s_.turn[j] <= now) << j;
    if (shape.choice == Choice::warp_first)
        for (std::uint32_t left = present; left != 0; left &= left - 1)
            propose_warp<shape>(lowest_bit(left), now);
    return present;
}

// The other schedulers that count on the same unit as this one, a set.
template <InOrderEngine::Shape shape>
[[gnu::always_inline]] inline std::uint32_t InOrderEngine::rivals(int scheduler) const {
    const int choice = s_.choice[scheduler];
    std::uint32_t same = 0;
#pragma GCC unroll 8
    for (int j = 0; j < shape.schedulers; ++j)
        same |= static_cast<std::uint32_t>(s_.choice[j] == choice) << j;
    return same & ~(std::uint32_t{1} << scheduler);
}

[[gnu::always_inline]] inline void InOrderEngine::use_window(int scheduler, std::int64_t now) {
    if (cycle_mask_ >= 0) [[likely]]
        cycle_end_ = (now | cycle_mask_) + 1;
    else if (now >= cycle_end_)
        cycle_end_ = window_->end_of_cycle(now);
    std::int64_t allowed = window_allows_;
    if (allowed == 0) [[unlikely]]
        allowed = window_->allowed_until(scheduler, cycle_end_);
    const std::int64_t in_hand = s_.window_left[scheduler];
    const std::int64_t left = (s_.window_end[scheduler] == cycle_end_ ? in_hand : allowed) - 1;
    s_.window_end[scheduler] = cycle_end_;
    s_.window_left[scheduler] = left;
    const std::int64_t open = s_.open_at[scheduler];
    s_.open_at[scheduler] = left == 0 ? cycle_end_ : open;
    if (may_close_ && left == 0) [[unlikely]]
        s_.open_at[scheduler] = window_->first_open(scheduler, cycle_end_);
}

// Makes `head` the warp's next instruction. Returns the time to wake the warp, 0 where it is ready
// now, or that is not known.
[[gnu::always_inline]] inline std::int64_t InOrderEngine::await(Warp& w, std::int32_t warp,
                                                                std::int32_t head,
                                                                std::int64_t now) {
    s_.head[warp] = head;
    const InOrderProgram::Instruction i = w.instructions[head];
    const std::int64_t first = w.times[i.lookups[0]];
    const std::int64_t second = w.times[i.lookups[1]];
    std::int64_t time = w.times[i.lookups[2]];
    time = second > time ? second : time;
    time = first > time ? first : time;
    if (i.looks_more) [[unlikely]]
        time = last_lookup(w, head);
    w.head = i;
    const int unit = w.scheduler * units + i.subsystem;
    w.unit = unit;
    s_.wake[warp] = time;
    if (time <= now) {
        s_.ready[unit] |= w.place;
        account_.ready_since[warp] = now;
        return 0;
    }
    return time == pending ? 0 : time;
}

void InOrderEngine::begin_head(std::int32_t warp, std::int64_t now) {
    if (const std::int64_t wake = await(warps_[warp], warp, s_.head[warp], now))
        wakes_.put(warp, wake, now);
}

// Issues what the scheduler has chosen; the warp's next instruction becomes its head.
template <InOrderEngine::Shape shape>
[[gnu::always_inline]] inline void InOrderEngine::issue(int scheduler, std::int64_t now) {
    const int subsystem = s_.choice[scheduler];
    const int unit = scheduler * units + subsystem;
    const std::int32_t warp = choose_warp<shape>(scheduler);
    Warp& w = warps_[warp];
    const InOrderProgram::Instruction i = w.head;
    const Timing& timing = timings_[i.op];
    if (shape.observed) report_issue(w, warp, now);
    s_.last_subsystem[scheduler] = subsystem;
    if (shape.choice == Choice::ring_per_subsystem) {
        s_.ring[unit] = w.next_try;
    } else {
        s_.last_warp[scheduler] = warp;
        try_first_[scheduler] = w.next_try;
    }
    s_.ready[unit] &= ~w.place;
    s_.free_at[shape.schedulers == 1 ? unit : free_slot_[unit]] = now + timing.cpi;
    if (shape.schedulers > 1) s_.last_grant[subsystem] = scheduler;
    if (window_) use_window(scheduler, now);
    ++s_.issued;
    std::int32_t next = s_.head[warp] + 1;
    if (i.special || i.ends) [[unlikely]] {
        next = issue_special(w, warp, now);
    } else {
        const std::int64_t result = now + timing.latency;
        w.times[i.place] = result;
        const std::int64_t finished = now + timing.finish;
        std::int64_t& last = s_.last_result[w.slot];
        last = finished > last ? finished : last;
        if (shape.observed) report_result(w, warp, result);
    }
    const std::int64_t wake = next >= 0 ? await(w, warp, next, now) : 0;
    plan<shape>(scheduler, now);
    if (wake == 0) return;
    if (!shape.observed && wake <= wakes_.next() && wake <= first_turn<shape>() &&
        wake <= next_end_ && s_.issued < attention_) {
        // Nothing comes before.
        s_.now = wake;
        wake_up<shape>(warp, wake);
    } else {
        wakes_.put(warp, wake, now);
    }
}

template <InOrderEngine::Shape shape>
[[gnu::always_inline]] inline std::int64_t InOrderEngine::first_turn() const {
    std::int64_t first = s_.turn[0];
#pragma GCC unroll 8
    for (int j = 1; j < shape.schedulers; ++j) first = s_.turn[j] < first ? s_.turn[j] : first;
    return first;
}

// The schedulers propose; of those that want the same shared unit, the first in its ring is granted
// it, and the others plan anew.
template <InOrderEngine::Shape shape>
[[gnu::always_inline]] inline void InOrderEngine::issue_round(std::int64_t now) {
    std::uint32_t left = propose<shape>(now);
    if (shape.schedulers == 1) {
        issue<shape>(0, now);
        return;
    }
    do {
        int j = lowest_bit(left);
        const int subsystem = s_.choice[j];
        if ((shared_ >> subsystem & 1) == 0) {
            left &= left - 1;
            issue<shape>(j, now);
            continue;
        }
        std::uint32_t others = rivals<shape>(j);
        if ((others & left) != 0) {
            const std::uint32_t all = others | std::uint32_t{1} << j;
            const std::uint32_t present = all & left;
            const std::uint32_t after = present & (~std::uint32_t{1} << s_.last_grant[subsystem]);
            j = lowest_bit(after != 0 ? after : present);
            others = all & ~(std::uint32_t{1} << j);
            left &= ~others;
        }
        left &= ~(std::uint32_t{1} << j);
        issue<shape>(j, now);
        for (; others != 0; others &= others - 1) plan<shape>(lowest_bit(others), now);
    } while (left != 0);
}

template <InOrderEngine::Shape shape>
bool InOrderEngine::run_as(std::int64_t until) {
    attention_ = 0;
    while (true) {
        const std::int64_t next = first_turn<shape>();
        const std::int64_t wake = wakes_.next();
        const std::int64_t first = next < next_end_ ? next : next_end_;
        if (wake <= first) {
            if (wake > max_ticks) [[unlikely]] {
                if (wake != never) break;
                if (shape.observed) report_unused_slots();
                return true;
            }
            if (shape.observed && wake > s_.now) note_bounds();
            s_.now = wake;
            for_each_bit(wakes_.take(), [&](int warp) { wake_up<shape>(warp, wake); });
            continue;
        }
        if (first > max_ticks) [[unlikely]]
            break;
        if (shape.observed && first > s_.now) note_bounds();
        s_.now = first;
        if (next_end_ <= next) [[unlikely]] {
            end_groups();
            plan_all();
            continue;
        }
        issue_round<shape>(next);
        if (s_.issued >= attention_) [[unlikely]] {
            if (detect_periods_) look_around();
            if (s_.issued - skipped_ >= until) return false;
            attention_ = std::min(until + skipped_, next_choice_);
        }
    }
    throw InputError("the run takes more than 2^62 ticks; launch fewer groups");
}

void InOrderEngine::plan_all() {
    constexpr Shape any{units, max_narrow_schedulers, Choice::warp_first, false};
    for (int j = 0; j < schedulers_; ++j) plan<any>(j, s_.now);
}

template <int subsystems, int schedulers, InOrderEngine::Choice choice>
bool InOrderEngine::run_choosing(std::int64_t until) {
    return observer_ ? run_as<Shape{subsystems, schedulers, choice, true}>(until)
                     : run_as<Shape{subsystems, schedulers, choice, false}>(until);
}

template <int subsystems, int schedulers>
bool InOrderEngine::run_on(std::int64_t until) {
    switch (choice_) {
        case Choice::ring_per_subsystem:
            return run_choosing<subsystems, schedulers, Choice::ring_per_subsystem>(until);
        case Choice::by_age: return run_choosing<subsystems, schedulers, Choice::by_age>(until);
        case Choice::warp_first: break;
    }
    return run_choosing<subsystems, schedulers, Choice::warp_first>(until);
}

bool InOrderEngine::run(std::int64_t until) {
    const bool few = layout_.machine.subsystems.size() <= 4;
    if (few && schedulers_ == 1) return run_on<4, 1>(until);
    if (few && schedulers_ <= 4) return run_on<4, 4>(until);
    if (schedulers_ == 1) return run_on<units, 1>(until);
    return run_on<units, max_narrow_schedulers>(until);
}

}  // namespace occupipe::sim
