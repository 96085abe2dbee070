// SPDX-License-Identifier: MIT
#include "sim/engine/in_order_engine.h"

#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "sim/machine/bits.h"
#include "sim/machine/core_state.h"

namespace occupipe::sim {
namespace {

std::int64_t longest_latency(const Machine& machine) {
    std::int64_t longest = 1;
    for (const MachineOp& op : machine.ops) longest = std::max(longest, op.latency);
    return longest;
}

}  // namespace

bool InOrderEngine::can_run(const CoreLayout& layout) {
    return layout.order == Order::in_order && layout.warps() <= 64 &&
           layout.machine.subsystems.size() <= max_narrow_subsystems &&
           layout.machine.schedulers <= max_narrow_schedulers &&
           std::all_of(layout.programs.begin(), layout.programs.end(), fits_scoreboard);
}

InOrderEngine::InOrderEngine(const CoreLayout& layout, bool detect_periods, Observer* observer)
    : layout_(layout),
      wakes_(longest_latency(layout.machine)),
      schedulers_(layout.machine.schedulers),
      channels_(layout.barrier_channels),
      by_subsystem_(layout.select == Select::subsystem),
      rings_(layout.rings_per_subsystem()),
      moves_(layout.policy != Policy::lrr),
      four_units_(layout.machine.subsystems.size() <= 4),
      window_(layout.machine.window ? &*layout.machine.window : nullptr),
      may_close_(window_ && !window_->always_open()),
      observer_(observer),
      detect_periods_(detect_periods && !observer) {
    for (const ProgramLayout& program : layout.programs)
        programs_.push_back(in_order_program(layout, program));
    const auto& subsystems = layout.machine.subsystems;
    for (std::size_t s = 0; s < subsystems.size(); ++s)
        if (subsystems[s].scope == Scope::core) shared_ |= std::uint32_t{1} << s;
    std::size_t times = 0;
    std::size_t issues = 0;
    std::size_t iterations = 0;
    for (std::int32_t warp = 0; warp < layout.warps(); ++warp) {
        const InOrderProgram& program = programs_[layout.program_of[warp]];
        times += program.places;
        issues += program.ring_masks.size();
        iterations += program.loops.size();
    }
    s_.times.resize(times);
    s_.issues.resize(issues);
    s_.iteration.resize(iterations);
    words_ = static_cast<std::int64_t>(times + issues + iterations) + 512;
    times = issues = iterations = 0;
    for (std::int32_t warp = 0; warp < layout.warps(); ++warp) {
        const InOrderProgram& program = programs_[layout.program_of[warp]];
        Warp w;
        w.program = &program;
        w.instructions = program.instructions.data();
        w.times = s_.times.data() + times;
        w.issues = s_.issues.data() + issues;
        w.iterations = s_.iteration.data() + iterations;
        w.scheduler = layout.scheduler_of[warp];
        w.slot = warp / layout.group_warps;
        warps_.push_back(w);
        times += program.places;
        issues += program.ring_masks.size();
        iterations += program.loops.size();
    }
    s_.ahead.resize(std::size_t{1} * layout.warps() * channels_);
    s_.barrier.resize(s_.ahead.size());
    account_.instance.resize(s_.ahead.size());
    s_.arrivals.resize(std::size_t{1} * layout.slots * channels_);
    s_.group.assign(layout.slots, no_group);
    s_.unfinished.resize(layout.slots);
    s_.last_result.resize(layout.slots);
    s_.group_end.assign(layout.slots, never);
    s_.waiting.resize(layout.waiting_lines.size());
    s_.turn.fill(never);
    s_.last_warp.fill(no_warp);
    s_.last_to.fill(no_warp);
    // Rings begin with the first.
    s_.last_subsystem.fill(static_cast<std::int32_t>(subsystems.size()) - 1);
    s_.last_grant.fill(schedulers_ - 1);
    std::iota(s_.position.begin(), s_.position.end(), 0);
    s_.warp_at = s_.position;
    account_.bound.fill(WaitReason::subsystem);
    for (const MachineOp& op : layout.machine.ops) timings_.push_back({op.cpi, op.latency});
    place_warps();
    for (std::int32_t slot = 0; slot < layout.slots; ++slot) launch_group(slot);
    // A marker needs time to go through its body.
    shortest_wait_ = 4 * std::max<std::int64_t>(words_, layout.stream_count);
    if (detect_periods_) {
        choose_marker();
    } else {
        marker_ = no_warp;
        next_choice_ = never;
    }
}

std::int64_t InOrderEngine::busy(int scheduler, int subsystem) const {
    return s_.busy[scheduler * units + subsystem];
}

std::int64_t InOrderEngine::free_at(int scheduler, int subsystem) const {
    return s_.free_at[scheduler * units + subsystem];
}

// The warp's head is ready.
[[gnu::always_inline]] inline void InOrderEngine::set_ready(const Warp& w, int unit,
                                                            std::int64_t now, std::int32_t warp) {
    s_.ready[unit] |= w.place;
    from_[unit] = s_.free_at[unit];
    account_.ready_since[warp] = now;
}

[[gnu::always_inline]] inline void InOrderEngine::wake_up(std::int32_t warp, std::int64_t now) {
    const Warp& w = warps_[warp];
    const int unit = head_unit_[warp];
    set_ready(w, unit, now, warp);
    std::int64_t from = std::max({s_.free_at[unit], s_.open_at[w.scheduler], now});
    if (may_close_) [[unlikely]]
        from = window_->first_open(w.scheduler, from);
    std::int64_t& turn = s_.turn[w.scheduler];
    turn = from < turn ? from : turn;
}

template <int scanned>
[[gnu::always_inline]] inline std::int64_t InOrderEngine::next_issue(int scheduler) const {
    const std::int64_t* const from = from_.data() + scheduler * units;
    std::int64_t first = from[0];
#pragma GCC unroll 8
    for (int s = 1; s < scanned; ++s) first = from[s] < first ? from[s] : first;
    if (first == never) return never;
    first = std::max({first, s_.open_at[scheduler], s_.now});
    if (may_close_) [[unlikely]]
        return window_->first_open(scheduler, first);
    return first;
}

// The subsystem that the scheduler would issue to now, or -1.
template <int scanned>
[[gnu::always_inline]] inline InOrderEngine::Pick InOrderEngine::pick(int scheduler,
                                                                      std::int64_t now) const {
    const std::int64_t* const from = from_.data() + scheduler * units;
    std::uint32_t open = 0;
#pragma GCC unroll 8
    for (int s = 0; s < scanned; ++s) open |= static_cast<std::uint32_t>(from[s] <= now) << s;
    if (open == 0) return {};
    if (by_subsystem_) [[likely]] {
        const std::uint32_t after = open & (~std::uint32_t{1} << s_.last_subsystem[scheduler]);
        return {no_warp, lowest_bit(after != 0 ? after : open)};
    }
    std::uint64_t positions = 0;
    for_each_bit(open, [&](int s) { positions |= s_.ready[scheduler * units + s]; });
    const std::uint64_t first = positions & try_first_[scheduler];
    const std::int32_t warp = s_.warp_at[lowest_bit(first != 0 ? first : positions)];
    return {warp, head_unit_[warp] - scheduler * units};
}

// The warp that issues there.
[[gnu::always_inline]] inline std::int32_t InOrderEngine::pick_warp(const Pick& pick,
                                                                    int scheduler) const {
    if (!by_subsystem_) [[unlikely]]
        return pick.warp;
    const int unit = scheduler * units + pick.subsystem;
    const std::uint64_t positions = s_.ready[unit];
    const std::uint64_t first = positions & (rings_ ? ring_[unit] : try_first_[scheduler]);
    const int position = lowest_bit(first != 0 ? first : positions);
    return moves_ ? s_.warp_at[position] : position;
}

[[gnu::always_inline]] inline void InOrderEngine::use_window(int scheduler, std::int64_t now) {
    std::int64_t& end = s_.window_end[scheduler];
    if (now >= end) {
        end = window_->end_of_cycle(now);
        s_.window_left[scheduler] = window_->allowed_until(scheduler, end);
    }
    if (--s_.window_left[scheduler] == 0)
        s_.open_at[scheduler] = may_close_ ? window_->first_open(scheduler, end) : end;
}

// Finds out when the head is ready; returns the time to wake the warp, 0 where that is not needed
// or not known.
[[gnu::always_inline]] inline std::int64_t InOrderEngine::await(const Warp& w, std::int32_t warp,
                                                                std::int64_t now) {
    const InOrderProgram::Instruction& i = w.instructions[s_.head[warp]];
    const std::int64_t first = w.times[i.lookups[0]];
    const std::int64_t second = w.times[i.lookups[1]];
    std::int64_t time = w.times[i.lookups[2]];
    time = second > time ? second : time;
    time = first > time ? first : time;
    if (i.looks_more) time = last_lookup(w, s_.head[warp]);
    const int unit = w.scheduler * units + i.subsystem;
    head_unit_[warp] = unit;
    head_cpi_[warp] = timings_[i.op].cpi;
    if (time <= now) {
        s_.wake[warp] = 0;
        set_ready(w, unit, now, warp);
        return 0;
    }
    s_.wake[warp] = time;
    return time == pending ? 0 : time;
}

// Issues what a scheduler picked; the warp's next instruction becomes its head. Returns as await().
template <int most, bool observed>
[[gnu::always_inline]] inline InOrderEngine::Issue InOrderEngine::take(const Pick& pick,
                                                                       int scheduler,
                                                                       std::int64_t now) {
    const std::int32_t warp = pick_warp(pick, scheduler);
    const Warp& w = warps_[warp];
    const InOrderProgram::Instruction& i = w.instructions[s_.head[warp]];
    const Timing& timing = timings_[i.op];
    const int unit = scheduler * units + pick.subsystem;
    if (observed) report_issue(w, warp, now);
    s_.last_warp[scheduler] = warp;
    s_.last_subsystem[scheduler] = pick.subsystem;
    s_.last_to[unit] = warp;
    ring_[unit] = w.next_try;
    try_first_[scheduler] = w.next_try;
    const std::int64_t cpi = head_cpi_[warp];
    const std::int64_t free_at = now + cpi;
    s_.busy[unit] += cpi;
    const std::uint64_t left = s_.ready[unit] & ~w.place;
    s_.ready[unit] = left;
    s_.free_at[unit] = free_at;
    from_[unit] = left != 0 ? free_at : never;
    if (most > 1) {
        s_.last_grant[pick.subsystem] = scheduler;
        if ((shared_ >> pick.subsystem & 1) != 0) {
#pragma GCC unroll 8
            for (int j = 0; j < most; ++j) {
                const int other = j * units + pick.subsystem;
                s_.free_at[other] = free_at;
                from_[other] = s_.ready[other] != 0 ? free_at : never;
            }
        }
    }
    if (window_) use_window(scheduler, now);
    ++s_.issued;
    if (i.special) [[unlikely]] {
        issue_special(w, warp, now);
    } else {
        const std::int64_t result = now + timing.latency;
        w.times[i.place] = result;
        const std::int64_t finished = i.store ? free_at : result;
        std::int64_t& last = s_.last_result[w.slot];
        last = finished > last ? finished : last;
        if (observed) report_result(w, warp, result);
    }
    if (i.ends) [[unlikely]] {
        if (!advance_from_end(w, warp)) return {warp, 0};
    } else {
        ++s_.head[warp];
    }
    return {warp, await(w, warp, now)};
}

// After an issue, when the schedulers' turns are known, the first one of them at `turn`.
template <bool observed>
[[gnu::always_inline]] inline void InOrderEngine::wake_later(const Issue& issue, std::int64_t turn,
                                                             std::int64_t now) {
    if (issue.wake == 0) return;
    if (!observed && issue.wake <= turn && issue.wake <= wakes_.next() && issue.wake <= next_end_ &&
        s_.issued < attention_) {
        // Nothing comes before.
        s_.now = issue.wake;
        wake_up(issue.warp, issue.wake);
    } else {
        wakes_.put(issue.warp, issue.wake, now);
    }
}

// Issues one instruction of the only scheduler.
template <int scanned, bool observed>
[[gnu::always_inline]] inline void InOrderEngine::issue_alone(std::int64_t now) {
    const Issue issue = take<1, observed>(pick<scanned>(0, now), 0, now);
    const std::int64_t turn = next_issue<scanned>(0);
    s_.turn[0] = turn;
    wake_later<observed>(issue, turn, now);
}

// The schedulers propose; of those that want the same shared unit, the first in its ring is granted
// it.
template <int scanned, int most, bool observed>
[[gnu::always_inline]] inline void InOrderEngine::issue_round(std::int64_t now) {
    std::uint32_t present = 0;
#pragma GCC unroll 8
    for (int j = 0; j < most; ++j) present |= static_cast<std::uint32_t>(s_.turn[j] <= now) << j;
    if ((present & (present - 1)) == 0) {
        const int j = lowest_bit(present);
        const Pick picked = pick<scanned>(j, now);
        if (picked.subsystem < 0) {
            s_.turn[j] = next_issue<scanned>(j);
            return;
        }
        const Issue issue = take<most, observed>(picked, j, now);
        s_.turn[j] = next_issue<scanned>(j);
        std::int64_t turn = s_.turn[0];
#pragma GCC unroll 8
        for (int other = 1; other < most; ++other)
            turn = s_.turn[other] < turn ? s_.turn[other] : turn;
        wake_later<observed>(issue, turn, now);
        return;
    }
    std::array<Pick, most> picks;
    std::array<int, units> winner;
    std::uint32_t claimed = 0;
    std::uint32_t granted = 0;
    for (std::uint32_t left = present; left != 0; left &= left - 1) {
        const int j = lowest_bit(left);
        picks[j] = pick<scanned>(j, now);
        const std::int32_t s = picks[j].subsystem;
        if (s < 0) continue;
        granted |= std::uint32_t{1} << j;
        if ((shared_ >> s & 1) == 0) continue;
        if ((claimed >> s & 1) != 0) {
            // A later scheduler wins where the ring has passed the earlier one, but not it.
            const bool wins = winner[s] <= s_.last_grant[s] && j > s_.last_grant[s];
            granted &= ~(std::uint32_t{1} << (wins ? winner[s] : j));
            if (!wins) continue;
        }
        claimed |= std::uint32_t{1} << s;
        winner[s] = j;
    }
    for (std::uint32_t left = granted; left != 0; left &= left - 1) {
        const int j = lowest_bit(left);
        const Issue issue = take<most, observed>(picks[j], j, now);
        if (issue.wake != 0) wakes_.put(issue.warp, issue.wake, now);
    }
    for (std::uint32_t left = present; left != 0; left &= left - 1) {
        const int j = lowest_bit(left);
        s_.turn[j] = next_issue<scanned>(j);
    }
}

template <int scanned, int most, bool observed>
bool InOrderEngine::run_as(std::int64_t until) {
    attention_ = 0;
    while (true) {
        std::int64_t next = s_.turn[0];
#pragma GCC unroll 8
        for (int j = 1; j < most; ++j) next = s_.turn[j] < next ? s_.turn[j] : next;
        const std::int64_t wake = wakes_.next();
        const std::int64_t first = next < next_end_ ? next : next_end_;
        if (wake <= first) {
            if (wake > max_ticks) [[unlikely]] {
                if (wake != never) break;
                if (observed) report_unused_slots();
                return true;
            }
            if (observed && wake > s_.now) note_bounds();
            s_.now = wake;
            for_each_bit(wakes_.take(), [&](int warp) { wake_up(warp, wake); });
            continue;
        }
        if (first > max_ticks) [[unlikely]]
            break;
        if (observed && first > s_.now) note_bounds();
        s_.now = first;
        if (next_end_ <= next) [[unlikely]] {
            end_groups();
            continue;
        }
        if (most == 1)
            issue_alone<scanned, observed>(next);
        else
            issue_round<scanned, most, observed>(next);
        if (s_.issued >= attention_) [[unlikely]] {
            if (detect_periods_) look_around();
            if (s_.issued - skipped_ >= until) return false;
            attention_ = std::min(until + skipped_, next_choice_);
        }
    }
    throw InputError("the run takes more than 2^62 ticks; launch fewer groups");
}

bool InOrderEngine::run(std::int64_t until) {
    return observer_ ? run_observed<true>(until) : run_observed<false>(until);
}

template <bool observed>
bool InOrderEngine::run_observed(std::int64_t until) {
    if (four_units_ && schedulers_ == 1) return run_as<4, 1, observed>(until);
    if (four_units_ && schedulers_ <= 4) return run_as<4, 4, observed>(until);
    if (schedulers_ == 1) return run_as<units, 1, observed>(until);
    return run_as<units, max_narrow_schedulers, observed>(until);
}

void InOrderEngine::launch_group(std::int32_t slot) {
    s_.group[slot] = s_.launched++;
    s_.unfinished[slot] = layout_.group_warps;
    s_.last_result[slot] = s_.now;
    s_.group_end[slot] = never;
    s_.age_order.push_back(slot);
    if (observer_) observer_->group_started({s_.now, slot, s_.group[slot]});
    std::fill_n(s_.arrivals.begin() + slot * channels_, channels_, 0);
    const std::int32_t first = slot * layout_.group_warps;
    for (std::int32_t warp = first; warp < first + layout_.group_warps; ++warp) {
        const Warp& w = warps_[warp];
        std::fill_n(w.times, w.program->places, 0);
        std::fill_n(w.issues, w.program->ring_masks.size(), 0);
        std::fill_n(w.iterations, w.program->loops.size(), 0);
        std::fill_n(s_.ahead.begin() + warp * channels_, channels_, 0);
        s_.head[warp] = 0;
        account_.since[warp] = s_.now;
        account_.last_finish[warp] = s_.now;
        if (const std::int64_t wake = await(w, warp, s_.now)) wakes_.put(warp, wake, s_.now);
        s_.turn[w.scheduler] = std::min(s_.turn[w.scheduler], next_issue<units>(w.scheduler));
    }
}

// All groups that end now, lower slots first; then the next ones take their slots.
void InOrderEngine::end_groups() {
    std::uint64_t ended = 0;
    for (std::int32_t slot = 0; slot < layout_.slots; ++slot) {
        if (s_.group_end[slot] != s_.now) continue;
        ended |= bit(slot);
        if (observer_) report_group_end(slot);
        s_.group[slot] = no_group;
        s_.group_end[slot] = never;
        std::erase(s_.age_order, slot);
        if (layout_.policy == Policy::gto)
            for (std::int32_t& last : s_.last_warp)
                if (last != no_warp && last / layout_.group_warps == slot) last = no_warp;
    }
    if (moves_) place_warps();
    for_each_bit(ended, [&](std::int32_t slot) {
        if (s_.launched < layout_.groups) launch_group(slot);
    });
    if ((ended & 1) != 0 && s_.group[0] != no_group) {
        new_wave_ = true;
        attention_ = 0;
    }
    find_group_end();
}

void InOrderEngine::find_group_end() {
    next_end_ = *std::min_element(s_.group_end.begin(), s_.group_end.end());
}

// With lrr positions stay as they are.
void InOrderEngine::place_warps() {
    if (moves_) {
        std::uint64_t ready = 0;  // warps
        for (std::size_t unit = 0; unit < s_.ready.size(); ++unit)
            for_each_bit(s_.ready[unit], [&](int position) { ready |= bit(s_.warp_at[position]); });
        s_.ready.fill(0);
        place_by_age(s_, layout_);
        for_each_bit(ready,
                     [&](int warp) { s_.ready[head_unit_[warp]] |= bit(s_.position[warp]); });
    }
    for (std::size_t warp = 0; warp < warps_.size(); ++warp) {
        Warp& w = warps_[warp];
        w.place = bit(s_.position[warp]);
        w.next_try = ~std::uint64_t{0};
        if (layout_.policy == Policy::gto) w.next_try = w.place;
        if (layout_.policy == Policy::lrr) w.next_try = ~std::uint64_t{1} << s_.position[warp];
    }
    const auto next_try = [this](std::int32_t warp) {
        return warp == no_warp ? ~std::uint64_t{0} : warps_[warp].next_try;
    };
    for (int j = 0; j < schedulers_; ++j) try_first_[j] = next_try(s_.last_warp[j]);
    for (std::size_t unit = 0; unit < ring_.size(); ++unit)
        ring_[unit] = next_try(s_.last_to[unit]);
    find_free_units();
}

void InOrderEngine::find_free_units() {
    for (std::size_t unit = 0; unit < from_.size(); ++unit)
        from_[unit] = s_.ready[unit] != 0 ? s_.free_at[unit] : never;
}

// A barrier, an instruction that waits in a queue, or one whose earlier instances are needed, too.
void InOrderEngine::issue_special(const Warp& w, std::int32_t warp, std::int64_t now) {
    const std::int32_t stream = s_.head[warp];
    const InOrderProgram::Instruction& i = w.instructions[stream];
    const InOrderProgram::Details& details = w.program->details[stream];
    const MachineOp& op = layout_.machine.ops[i.op];
    if (details.ring >= 0) ++w.issues[details.ring];
    if (details.channel >= 0) {
        set_time(w, stream, 0, pending);
        arrive(w, warp, now);
        return;
    }
    const std::int64_t result = details.queued ? queued_until(w, warp, now) : now + op.latency;
    set_time(w, stream, 0, result);
    s_.last_result[w.slot] = std::max(s_.last_result[w.slot], i.store ? now + op.cpi : result);
    if (observer_) report_result(w, warp, result);
}

// The time of an instance of the stream, so many before its last.
void InOrderEngine::set_time(const Warp& w, std::int32_t stream, std::int64_t back,
                             std::int64_t time) {
    const InOrderProgram::Details& details = w.program->details[stream];
    if (back > details.mask) return;  // nobody asks for it any more
    const std::int64_t at =
        details.ring < 0 ? 0 : (w.issues[details.ring] - 1 - back) & details.mask;
    w.times[w.instructions[stream].place + at] = time;
}

// As EventEngine::issue_waiting().
std::int64_t InOrderEngine::queued_until(const Warp& w, std::int32_t warp, std::int64_t now) {
    const std::int32_t stream = s_.head[warp];
    const Machine& machine = layout_.machine;
    const InOrderProgram::Instruction& i = w.instructions[stream];
    const int unit = machine.unit(i.subsystem, w.scheduler);
    std::int64_t time = now + machine.ops[i.op].latency;
    std::size_t own = 0;
    for (std::size_t l = 0; l < s_.waiting.size(); ++l) {
        const WaitingLine& line = layout_.waiting_lines[l];
        if (line.unit != unit) continue;
        CompletionQueue& outstanding = s_.waiting[l];
        while (outstanding.next_time() <= now) outstanding.pop();
        time += machine.ops[line.op].wait * static_cast<std::int64_t>(outstanding.size());
        if (line.op == i.op) own = l;
    }
    CompletionQueue& same = s_.waiting[own];
    if (same.size() > 0) time = std::max(time, same.last_time());
    same.push({time, warp, stream});
    return time;
}

void InOrderEngine::arrive(const Warp& w, std::int32_t warp, std::int64_t now) {
    const std::int32_t stream = s_.head[warp];
    const std::int32_t channel = w.program->details[stream].channel;
    const std::int32_t own = warp * channels_ + channel;
    s_.barrier[own] = stream;
    if (observer_) account_.instance[own] = instance(w, stream);
    // A warp may be more than one barrier ahead of the others.
    if (s_.ahead[own]++ != 0) return;
    if (++s_.arrivals[w.slot * channels_ + channel] == layout_.group_warps)
        open_barrier(w.slot, channel, now);
}

void InOrderEngine::open_barrier(std::int32_t slot, std::int32_t channel, std::int64_t now) {
    std::int32_t arrivals = 0;
    const std::int32_t first = slot * layout_.group_warps;
    for (std::int32_t warp = first; warp < first + layout_.group_warps; ++warp) {
        const Warp& w = warps_[warp];
        std::int32_t& ahead = s_.ahead[warp * channels_ + channel];
        const std::int32_t stream = s_.barrier[warp * channels_ + channel];
        const std::int64_t time = now + layout_.machine.ops[w.instructions[stream].op].latency;
        --ahead;
        set_time(w, stream, ahead, time);
        if (observer_) report_barrier(w, warp, channel, time);
        s_.last_result[slot] = std::max(s_.last_result[slot], time);
        if (ahead > 0) ++arrivals;
        // The issuing warp itself has not moved on yet.
        if (s_.wake[warp] != pending) continue;
        if (const std::int64_t wake = await(w, warp, now)) wakes_.put(warp, wake, now);
    }
    s_.arrivals[slot * channels_ + channel] = arrivals;
}

std::int64_t InOrderEngine::look_up(const Warp& w, const InOrderProgram::Lookup& lookup) {
    if (lookup.loop >= 0 && w.iterations[lookup.loop] < lookup.back) return 0;
    if (lookup.mask == 0) return w.times[lookup.first];
    return w.times[lookup.first + ((w.issues[lookup.ring] - lookup.lag) & lookup.mask)];
}

// When the last of what the instruction waits for is there.
std::int64_t InOrderEngine::last_lookup(const Warp& w, std::int32_t stream) {
    const InOrderProgram::Details& details = w.program->details[stream];
    std::int64_t time = 0;
    for (std::int32_t l = details.first_lookup; l < details.last_lookup; ++l)
        time = std::max(time, look_up(w, w.program->lookups[l]));
    return time;
}

// From a loop's last instruction to its first or to what follows; false at the program's end.
bool InOrderEngine::advance_from_end(const Warp& w, std::int32_t warp) {
    const std::int32_t stream = s_.head[warp];
    std::int32_t next = stream + 1;
    for (std::int32_t l = w.program->details[stream].ends_loop; l >= 0;) {
        const InOrderProgram::Loop& loop = w.program->loops[l];
        std::int64_t& iteration = w.iterations[l];
        if (++iteration < loop.count) {
            next = loop.first;
            if (marker_ == any_warp) marker_ = warp;
            if (warp == marker_) {
                looped_depth_ = std::min(loop.depth, static_cast<std::int32_t>(loops_.size()) - 1);
                attention_ = 0;
            }
            break;
        }
        iteration = 0;
        l = loop.parent >= 0 && w.program->loops[loop.parent].last == stream + 1 ? loop.parent : -1;
    }
    s_.head[warp] = next;
    if (next < static_cast<std::int32_t>(w.program->instructions.size())) return true;
    s_.wake[warp] = never;
    if (warp == marker_) choose_marker();
    if (--s_.unfinished[w.slot] > 0) return false;
    // All barriers have opened, as all warps pass equally many.
    s_.group_end[w.slot] = s_.last_result[w.slot];
    next_end_ = std::min(next_end_, s_.last_result[w.slot]);
    return false;
}

}  // namespace occupipe::sim
