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

namespace {

// A branch would be foreseen wrongly too often, and compilers make one of ?: as they like.
template <typename Value>
[[gnu::always_inline]] inline Value either(bool condition, Value first, Value second) {
    return second ^ ((first ^ second) & -static_cast<Value>(condition));
}

}  // namespace

// What the scheduler does next, if it may not issue before `from`.
template <InOrderEngine::Shape shape>
[[gnu::always_inline]] inline void InOrderEngine::plan_from(int scheduler, std::int64_t from) {
    const std::int64_t* const possible = possible_.data() + scheduler * units;
    const std::int64_t after = s_.last_subsystem[scheduler] + 1;
    // The first that can be had at once. Where a branch is foreseen, what follows need not wait for
    // the data.
#pragma GCC unroll 8
    for (int i = 0; i < shape.subsystems; ++i) {
        const std::int64_t s = (after + i) & (shape.subsystems - 1);
        if (possible[s] > from) continue;
        s_.turn[scheduler] = from;
        s_.choice[scheduler] = s;
        return;
    }
    std::int64_t choice = after & (shape.subsystems - 1);
    std::int64_t turn = possible[choice];
#pragma GCC unroll 8
    for (int i = 1; i < shape.subsystems; ++i) {
        const std::int64_t s = (after + i) & (shape.subsystems - 1);
        if (possible[s] < turn) {
            turn = possible[s];
            choice = s;
        }
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

[[gnu::always_inline]] inline void InOrderEngine::set_ready(const Warp& w) {
    s_.ready[w.unit] |= w.position;
    possible_[w.unit] = s_.free_at[w.unit];
}

template <InOrderEngine::Shape shape>
[[gnu::always_inline]] inline void InOrderEngine::wake_up(std::int32_t warp, std::int64_t now) {
    const Warp& w = warps_[warp];
    const int j = shape.schedulers == 1 ? 0 : w.scheduler;
    set_ready(w);
    if (shape.observed) account_.ready_since[warp] = now;
    if (may_close_) [[unlikely]] {
        plan<shape>(j, now);
        return;
    }
    const std::int64_t s = w.unit - j * units;
    const std::int64_t time = std::max({possible_[w.unit], s_.open_at[j], now});
    const std::int64_t turn = s_.turn[j];
    const std::int64_t choice = s_.choice[j];
    const std::int64_t after = s_.last_subsystem[j] + 1;
    const bool nearer =
        ((s - after) & (shape.subsystems - 1)) < ((choice - after) & (shape.subsystems - 1));
    s_.choice[j] = either((time < turn) | ((time == turn) & nearer), s, choice);
    s_.turn[j] = std::min(time, turn);
}

// The warp that issues to what the scheduler has chosen.
template <InOrderEngine::Shape shape>
[[gnu::always_inline]] inline std::int32_t InOrderEngine::choose_warp(int scheduler) const {
    if (shape.choice == Choice::warp_first) return proposed_[scheduler];
    const std::int64_t unit = scheduler * units + s_.choice[scheduler];
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
    for (int unit = scheduler * units; unit < scheduler * units + shape.subsystems; ++unit)
        if (possible_[unit] <= now) positions |= s_.ready[unit];
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
    const std::int64_t choice = s_.choice[scheduler];
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
    const InOrderProgram::Instruction& i = w.instructions[head];
    const std::int64_t* const times = w.times;
    std::int64_t time = std::max({times[i.lookups[0]], times[i.lookups[1]], times[i.lookups[2]]});
    if ((i.flags & InOrderProgram::looks_more) != 0) [[unlikely]]
        time = last_lookup(w, head);
    w.timing = timings_[i.op];
    w.place = i.place;
    w.flags = i.flags;
    w.unit = w.first_unit + i.subsystem;
    s_.wake[warp] = time;
    if (time <= now) {
        set_ready(w);
        account_.ready_since[warp] = now;
        return 0;
    }
    return time == pending ? 0 : time;
}

void InOrderEngine::begin_head(std::int32_t warp, std::int64_t now) {
    if (lanes_) {
        begin_lane(warp);
        return;
    }
    if (const std::int64_t wake = await(warps_[warp], warp, s_.head[warp], now))
        wakes_.put(warp, wake, now);
}

// Issues what the scheduler has chosen; the warp's next instruction becomes its head.
template <InOrderEngine::Shape shape>
[[gnu::always_inline]] inline void InOrderEngine::issue(int scheduler, std::int64_t now) {
    const std::int64_t subsystem = s_.choice[scheduler];
    const std::int64_t unit = scheduler * units + subsystem;
    const std::int32_t warp = choose_warp<shape>(scheduler);
    Warp& w = warps_[warp];
    if (shape.observed) report_issue(w, warp, now);
    const std::int64_t free = now + w.timing.cpi;
    const std::uint64_t left = s_.ready[unit] & ~w.position;
    s_.ready[unit] = left;
    s_.free_at[unit] = free;
    possible_[unit] = left != 0 ? free : never;
    s_.last_subsystem[scheduler] = subsystem;
    if (shape.choice == Choice::ring_per_subsystem) {
        s_.ring[unit] = w.next_try;
    } else {
        s_.last_warp[scheduler] = warp;
        try_first_[scheduler] = w.next_try;
    }
    if (window_) use_window(scheduler, now);
    ++s_.issued;
    std::int32_t next = s_.head[warp] + 1;
    if ((w.flags & (InOrderProgram::special | InOrderProgram::ends)) != 0) [[unlikely]] {
        next = issue_special(w, warp, now);
    } else {
        const std::int64_t result = now + w.timing.latency;
        w.times[w.place] = result;
        std::int64_t& last = s_.last_result[w.slot];
        const std::int64_t finish = now + w.timing.finish;
        last = std::max(last, finish);
        if (shape.observed) report_result(w, warp, result, finish);
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

// The shared unit is granted to a scheduler until then.
template <InOrderEngine::Shape shape>
[[gnu::always_inline]] inline void InOrderEngine::take_from_others(std::int64_t subsystem,
                                                                   std::int64_t until) {
#pragma GCC unroll 8
    for (int j = 0; j < shape.schedulers; ++j) {
        const std::int64_t unit = j * units + subsystem;
        s_.free_at[unit] = until;
        possible_[unit] = s_.ready[unit] != 0 ? until : never;
    }
}

// `left` are the schedulers that have not had their turn in this round; this one has it now. One
// that is not granted what it wants plans anew when another one is.
template <InOrderEngine::Shape shape>
[[gnu::always_inline]] inline void InOrderEngine::issue_if_granted(int scheduler,
                                                                   std::uint32_t& left,
                                                                   std::int64_t now) {
    const std::int64_t subsystem = s_.choice[scheduler];
    left &= ~(std::uint32_t{1} << scheduler);
    if ((shared_ >> subsystem & 1) == 0) {
        issue<shape>(scheduler, now);
        return;
    }
    const std::uint32_t others = rivals<shape>(scheduler);
    if ((others & left) != 0) {
        const std::uint32_t all = (others & left) | std::uint32_t{1} << scheduler;
        const std::uint32_t after = all & (~std::uint32_t{1} << s_.last_grant[subsystem]);
        if (lowest_bit(after != 0 ? after : all) != scheduler) return;
        left &= ~others;
    }
    s_.last_grant[subsystem] = scheduler;
    issue<shape>(scheduler, now);
    take_from_others<shape>(subsystem, s_.free_at[scheduler * units + subsystem]);
    for_each_bit(others, [&](int other) { plan<shape>(other, now); });
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
    // With few schedulers one copy of the code for each, which need not wait for their numbers.
    if constexpr (shape.schedulers <= 4) {
#pragma GCC unroll 4
        for (int j = 0; j < shape.schedulers; ++j)
            if ((left >> j & 1) != 0) issue_if_granted<shape>(j, left, now);
    } else {
        while (left != 0) issue_if_granted<shape>(lowest_bit(left), left, now);
    }
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
            if (given_) return false;
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

void InOrderEngine::find_possible() {
    for (std::size_t unit = 0; unit < possible_.size(); ++unit)
        possible_[unit] = s_.ready[unit] != 0 ? s_.free_at[unit] : never;
}

void InOrderEngine::plan_all() {
    find_possible();
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
        case Choice::by_age:
            return run_choosing<subsystems, schedulers, Choice::by_age>(until);
        case Choice::warp_first:
            break;
    }
    return run_choosing<subsystems, schedulers, Choice::warp_first>(until);
}

bool InOrderEngine::run(std::int64_t until) {
    if (lanes_) return run_lanes(until);
    const bool few = layout_.machine.subsystems.size() <= 4;
    if (few && schedulers_ == 1) return run_on<4, 1>(until);
    if (few && schedulers_ <= 4) return run_on<4, 4>(until);
    if (schedulers_ == 1) return run_on<units, 1>(until);
    if (schedulers_ <= 4) return run_on<units, 4>(until);
    return run_on<units, max_narrow_schedulers>(until);
}

}  // namespace occupipe::sim
