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

std::optional<std::vector<InOrderProgram>> InOrderEngine::programs(const CoreLayout& layout) {
    if (layout.order != Order::in_order || layout.warps() > 64 ||
        layout.machine.subsystems.size() > max_narrow_subsystems ||
        layout.machine.schedulers > max_narrow_schedulers)
        return std::nullopt;
    std::vector<InOrderProgram> made;
    for (const ProgramLayout& program : layout.programs) {
        auto one = in_order_program(layout, program);
        if (!one) return std::nullopt;
        made.push_back(std::move(*one));
    }
    return made;
}

InOrderEngine::InOrderEngine(const CoreLayout& layout, std::vector<InOrderProgram> programs,
                             bool detect_periods)
    : layout_(layout),
      programs_(std::move(programs)),
      wakes_(longest_latency(layout.machine)),
      schedulers_(layout.machine.schedulers),
      channels_(layout.barrier_channels),
      by_subsystem_(layout.select == Select::subsystem),
      rings_(layout.rings_per_subsystem()),
      moves_(layout.policy != Policy::lrr),
      window_(layout.machine.window ? &*layout.machine.window : nullptr),
      may_close_(window_ && !window_->always_open()),
      detect_periods_(detect_periods) {
    const auto& subsystems = layout.machine.subsystems;
    for (std::size_t s = 0; s < subsystems.size(); ++s)
        if (subsystems[s].scope == Scope::core) shared_ |= std::uint32_t{1} << s;
    std::int64_t times = 0;
    std::int64_t issues = 0;
    std::int64_t iterations = 0;
    for (std::int32_t warp = 0; warp < layout.warps(); ++warp) {
        const InOrderProgram& program = programs_[layout.program_of[warp]];
        Warp w;
        w.program = &program;
        w.instructions = program.instructions.data();
        w.times = static_cast<std::int32_t>(times);
        w.issues = static_cast<std::int32_t>(issues);
        w.iterations = static_cast<std::int32_t>(iterations);
        w.scheduler = layout.scheduler_of[warp];
        w.slot = warp / layout.group_warps;
        warps_.push_back(w);
        times += program.times;
        issues += static_cast<std::int64_t>(program.instructions.size());
        iterations += static_cast<std::int64_t>(program.loops.size());
    }
    s_.times.resize(times);
    s_.issues.resize(issues);
    s_.iteration.resize(iterations);
    words_ = times + issues + iterations + 512;
    wait_ = 4 * words_;
    s_.ahead.resize(std::size_t{1} * layout.warps() * channels_);
    s_.barrier.resize(s_.ahead.size());
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
    place_warps();
    for (std::int32_t slot = 0; slot < layout.slots; ++slot) launch_group(slot);
    choose_marker();
}

std::int64_t InOrderEngine::busy(int scheduler, int subsystem) const {
    return s_.busy[scheduler * units + subsystem];
}

std::int64_t InOrderEngine::free_at(int scheduler, int subsystem) const {
    return s_.free_at[scheduler * units + subsystem];
}

bool InOrderEngine::run(std::int64_t until) {
    while (true) {
        std::int64_t next = s_.turn[0];
        for (int j = 1; j < schedulers_; ++j) next = std::min(next, s_.turn[j]);
        const std::int64_t wake = wakes_.next();
        if (wake <= next && wake <= next_end_) {
            if (wake > max_ticks) [[unlikely]] {
                if (wake == never) return true;
                break;
            }
            wake_up(wake);
            continue;
        }
        if (next_end_ <= next) {
            if (next_end_ > max_ticks) break;
            s_.now = next_end_;
            end_groups();
            continue;
        }
        if (next > max_ticks) [[unlikely]]
            break;
        s_.now = next;
        issue_round(next);
        if (detect_periods_ && (looped_depth_ >= 0 || new_wave_ || s_.issued > next_choice_))
            [[unlikely]]
            look_around();
        if (s_.issued - skipped_ >= until) [[unlikely]]
            return false;
    }
    throw InputError("the run takes more than 2^62 ticks; launch fewer groups");
}

void InOrderEngine::launch_group(std::int32_t slot) {
    s_.group[slot] = s_.launched++;
    s_.unfinished[slot] = layout_.group_warps;
    s_.last_result[slot] = s_.now;
    s_.group_end[slot] = never;
    s_.age_order.push_back(slot);
    std::fill_n(s_.arrivals.begin() + slot * channels_, channels_, 0);
    const std::int32_t first = slot * layout_.group_warps;
    for (std::int32_t warp = first; warp < first + layout_.group_warps; ++warp) {
        const Warp& w = warps_[warp];
        std::fill_n(s_.times.begin() + w.times, w.program->times, 0);
        std::fill_n(s_.issues.begin() + w.issues, w.program->instructions.size(), 0);
        std::fill_n(s_.iteration.begin() + w.iterations, w.program->loops.size(), 0);
        std::fill_n(s_.ahead.begin() + warp * channels_, channels_, 0);
        s_.head[warp] = 0;
        await(w, warp, s_.now);
        s_.turn[w.scheduler] = std::min(s_.turn[w.scheduler], next_issue(w.scheduler));
    }
}

// All groups that end now, lower slots first; then the next ones take their slots.
void InOrderEngine::end_groups() {
    std::uint64_t ended = 0;
    for (std::int32_t slot = 0; slot < layout_.slots; ++slot) {
        if (s_.group_end[slot] != s_.now) continue;
        ended |= bit(slot);
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
    if (ended & 1) new_wave_ = s_.group[0] != no_group;
    find_group_end();
}

void InOrderEngine::find_group_end() {
    next_end_ = *std::min_element(s_.group_end.begin(), s_.group_end.end());
}

// Positions follow the age of the groups, those of freed slots last, in slot order, in which they
// take the next groups; with lrr they stay as they are.
void InOrderEngine::place_warps() {
    if (moves_) {
        std::uint64_t ready = 0;  // warps
        for (std::size_t unit = 0; unit < s_.ready.size(); ++unit)
            for_each_bit(s_.ready[unit], [&](int position) { ready |= bit(s_.warp_at[position]); });
        s_.ready.fill(0);
        std::int32_t position = 0;
        const auto place = [&](std::int32_t slot) {
            for (std::int32_t index = 0; index < layout_.group_warps; ++index) {
                const std::int32_t warp = slot * layout_.group_warps + index;
                s_.position[warp] = position;
                s_.warp_at[position++] = warp;
            }
        };
        for (const std::int32_t slot : s_.age_order) place(slot);
        for (std::int32_t slot = 0; slot < layout_.slots; ++slot)
            if (s_.group[slot] == no_group) place(slot);
        for_each_bit(ready, [&](int warp) {
            const Warp& w = warps_[warp];
            s_.ready[w.scheduler * units + w.instructions[s_.head[warp]].subsystem] |=
                bit(s_.position[warp]);
        });
    }
    for (std::size_t warp = 0; warp < warps_.size(); ++warp) {
        Warp& w = warps_[warp];
        w.place = bit(s_.position[warp]);
        w.next_try = ~std::uint64_t{0};
        if (layout_.policy == Policy::gto) w.next_try = w.place;
        if (layout_.policy == Policy::lrr)
            w.next_try = s_.position[warp] == 63 ? 0 : ~std::uint64_t{0} << (s_.position[warp] + 1);
    }
}

void InOrderEngine::wake_up(std::int64_t now) {
    s_.now = now;
    for_each_bit(wakes_.take(), [&](int warp) {
        const Warp& w = warps_[warp];
        const int unit = w.scheduler * units + w.instructions[s_.head[warp]].subsystem;
        s_.ready[unit] |= w.place;
        std::int64_t from = std::max({s_.free_at[unit], s_.open_at[w.scheduler], now});
        if (may_close_) [[unlikely]]
            from = window_->first_open(w.scheduler, from);
        if (from < s_.turn[w.scheduler]) s_.turn[w.scheduler] = from;
    });
}

std::int64_t InOrderEngine::next_issue(int scheduler) const {
    std::int64_t first = never;
    const int count = static_cast<int>(layout_.machine.subsystems.size());
    for (int unit = scheduler * units; unit < scheduler * units + count; ++unit)
        if (s_.ready[unit] != 0 && s_.free_at[unit] < first) first = s_.free_at[unit];
    if (first == never) return never;
    first = std::max({first, s_.open_at[scheduler], s_.now});
    if (may_close_) [[unlikely]]
        return window_->first_open(scheduler, first);
    return first;
}

InOrderEngine::Pick InOrderEngine::pick(int scheduler, std::int64_t now) const {
    std::uint64_t open = 0;
    const int count = static_cast<int>(layout_.machine.subsystems.size());
    for (int s = 0; s < count; ++s) {
        const int unit = scheduler * units + s;
        if (s_.ready[unit] != 0 && s_.free_at[unit] <= now) open |= bit(s);
    }
    if (open == 0) return {};
    const auto first_of = [&](std::uint64_t positions, std::int32_t last) {
        const std::uint64_t first = last == no_warp ? positions : positions & warps_[last].next_try;
        return s_.warp_at[lowest_bit(first != 0 ? first : positions)];
    };
    if (by_subsystem_) [[likely]] {
        const std::uint64_t after = open & (~std::uint64_t{1} << s_.last_subsystem[scheduler]);
        const std::int32_t s = lowest_bit(after != 0 ? after : open);
        const int unit = scheduler * units + s;
        return {first_of(s_.ready[unit], rings_ ? s_.last_to[unit] : s_.last_warp[scheduler]), s};
    }
    std::uint64_t positions = 0;
    for_each_bit(open, [&](int s) { positions |= s_.ready[scheduler * units + s]; });
    const std::int32_t warp = first_of(positions, s_.last_warp[scheduler]);
    return {warp, warps_[warp].instructions[s_.head[warp]].subsystem};
}

// The schedulers propose; of those that want the same shared unit, the first in its ring is granted
// it.
void InOrderEngine::issue_round(std::int64_t now) {
    if (schedulers_ == 1) {
        take(pick(0, now), 0, now);
        s_.turn[0] = next_issue(0);
        return;
    }
    PerScheduler<Pick> picks;
    std::array<int, units> winner{};
    std::uint64_t claimed = 0;
    std::uint64_t granted = 0;
    std::uint64_t present = 0;
    for (int j = 0; j < schedulers_; ++j) {
        if (s_.turn[j] > now) continue;
        present |= bit(j);
        picks[j] = pick(j, now);
        const std::int32_t s = picks[j].subsystem;
        if (s < 0) continue;
        granted |= bit(j);
        if ((shared_ >> s & 1) == 0) continue;
        if ((claimed >> s & 1) != 0) {
            // A later scheduler wins where the ring has passed the earlier one, but not it.
            const bool wins = winner[s] <= s_.last_grant[s] && j > s_.last_grant[s];
            granted &= ~bit(wins ? winner[s] : j);
            if (!wins) continue;
        }
        claimed |= bit(s);
        winner[s] = j;
    }
    for_each_bit(granted, [&](int j) { take(picks[j], j, now); });
    for_each_bit(present, [&](int j) { s_.turn[j] = next_issue(j); });
}

// Issues what a scheduler picked.
void InOrderEngine::take(const Pick& pick, int scheduler, std::int64_t now) {
    const std::int32_t warp = pick.warp;
    const Warp& w = warps_[warp];
    const std::int32_t stream = s_.head[warp];
    const InOrderProgram::Instruction& i = w.instructions[stream];
    const int unit = scheduler * units + pick.subsystem;
    s_.last_warp[scheduler] = warp;
    s_.last_subsystem[scheduler] = pick.subsystem;
    s_.last_to[unit] = warp;
    s_.last_grant[pick.subsystem] = scheduler;
    s_.busy[unit] += i.cpi;
    s_.free_at[unit] = now + i.cpi;
    if (schedulers_ > 1 && (shared_ >> pick.subsystem & 1) != 0)
        for (int j = 0; j < schedulers_; ++j) s_.free_at[j * units + pick.subsystem] = now + i.cpi;
    s_.ready[unit] &= ~w.place;
    if (window_) use_window(scheduler, now);
    ++s_.issued;
    if (i.mask != 0) [[unlikely]]
        ++s_.issues[w.issues + stream];
    if (i.channel >= 0) [[unlikely]] {
        set_time(w, stream, 0, pending);
        arrive(w, warp, now);
    } else {
        std::int64_t result = now + i.latency;
        if (i.queued) [[unlikely]]
            result = queued_until(w, i, warp, now);
        if (i.mask == 0) [[likely]]
            s_.times[w.times + i.time] = result;
        else
            set_time(w, stream, 0, result);
        const std::int64_t finished = i.store ? now + i.cpi : result;
        if (finished > s_.last_result[w.slot]) s_.last_result[w.slot] = finished;
    }
    advance(w, warp, now);
}

void InOrderEngine::use_window(int scheduler, std::int64_t now) {
    std::int64_t& end = s_.window_end[scheduler];
    const std::int64_t cycle = window_->cycle();
    if (now >= end) {
        // Most of the time the next cycle.
        end = now < end + cycle ? end + cycle : (now / cycle + 1) * cycle;
        s_.window_left[scheduler] = window_->allowed(scheduler, end / cycle - 1);
    }
    if (--s_.window_left[scheduler] == 0)
        s_.open_at[scheduler] = window_->first_open(scheduler, end);
}

// The time of an instance of the stream, so many before its last.
void InOrderEngine::set_time(const Warp& w, std::int32_t stream, std::int64_t back,
                             std::int64_t time) {
    const InOrderProgram::Instruction& i = w.instructions[stream];
    if (back > i.mask) return;  // nobody asks for it any more
    const std::int64_t at = i.mask == 0 ? 0 : (s_.issues[w.issues + stream] - 1 - back) & i.mask;
    s_.times[w.times + i.time + at] = time;
}

// As Engine::issue_waiting().
std::int64_t InOrderEngine::queued_until(const Warp& w, const InOrderProgram::Instruction& i,
                                         std::int32_t warp, std::int64_t now) {
    const Machine& machine = layout_.machine;
    const int unit = machine.unit(i.subsystem, w.scheduler);
    std::int64_t time = now + i.latency;
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
    same.push({time, warp, s_.head[warp]});
    return time;
}

void InOrderEngine::arrive(const Warp& w, std::int32_t warp, std::int64_t now) {
    const std::int32_t stream = s_.head[warp];
    const std::int32_t channel = w.instructions[stream].channel;
    s_.barrier[warp * channels_ + channel] = stream;
    // A warp may be more than one barrier ahead of the others.
    if (s_.ahead[warp * channels_ + channel]++ != 0) return;
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
        const std::int64_t time = now + w.instructions[stream].latency;
        --ahead;
        set_time(w, stream, ahead, time);
        s_.last_result[slot] = std::max(s_.last_result[slot], time);
        if (ahead > 0) ++arrivals;
        // The issuing warp itself has not moved on yet.
        if (s_.wake[warp] == pending) await(w, warp, now);
    }
    s_.arrivals[slot * channels_ + channel] = arrivals;
}

std::int64_t InOrderEngine::look_up(const Warp& w, const InOrderProgram::Lookup& lookup) const {
    if (lookup.loop >= 0 && s_.iteration[w.iterations + lookup.loop] < lookup.back) return 0;
    if (lookup.mask == 0) [[likely]]
        return s_.times[w.times + lookup.first];
    const std::int64_t issued = s_.issues[w.issues + lookup.stream];
    return s_.times[w.times + lookup.first + ((issued - lookup.lag) & lookup.mask)];
}

std::int64_t InOrderEngine::ready_at(const Warp& w, const InOrderProgram::Instruction& i) const {
    std::int64_t time = 0;
    for (std::int32_t l = i.first_lookup; l < i.last_lookup; ++l)
        time = std::max(time, look_up(w, w.program->lookups[l]));
    return time;
}

// The warp's next instruction becomes its head.
void InOrderEngine::advance(const Warp& w, std::int32_t warp, std::int64_t now) {
    const std::int32_t stream = s_.head[warp];
    std::int32_t next = stream + 1;
    for (std::int32_t l = w.instructions[stream].ends_loop; l >= 0;) {
        const InOrderProgram::Loop& loop = w.program->loops[l];
        std::int64_t& iteration = s_.iteration[w.iterations + l];
        if (++iteration < loop.count) {
            next = loop.first;
            if (marker_ == any_warp) marker_ = warp;
            if (warp == marker_)
                looped_depth_ = std::min(loop.depth, static_cast<std::int32_t>(loops_.size()) - 1);
            break;
        }
        iteration = 0;
        l = loop.parent >= 0 && w.program->loops[loop.parent].last == stream + 1 ? loop.parent : -1;
    }
    s_.head[warp] = next;
    if (next < static_cast<std::int32_t>(w.program->instructions.size())) [[likely]] {
        await(w, warp, now);
        return;
    }
    s_.wake[warp] = never;
    if (warp == marker_) choose_marker();
    if (--s_.unfinished[w.slot] > 0) return;
    // All barriers have opened, as all warps pass equally many.
    s_.group_end[w.slot] = s_.last_result[w.slot];
    next_end_ = std::min(next_end_, s_.last_result[w.slot]);
}

// Finds out when the head is ready.
void InOrderEngine::await(const Warp& w, std::int32_t warp, std::int64_t now) {
    const InOrderProgram::Instruction& i = w.instructions[s_.head[warp]];
    const std::int64_t time = ready_at(w, i);
    if (time <= now) {
        s_.wake[warp] = 0;
        s_.ready[w.scheduler * units + i.subsystem] |= w.place;
        return;
    }
    s_.wake[warp] = time;
    if (time != pending) wakes_.put(warp, time, now);
}

}  // namespace occupipe::sim
