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

// Where the warps of a scheduler are at so many places of a program that no branch can be foreseen
// (measured, docs/background/performance.md).
bool long_bodies(const CoreLayout& layout) {
    std::size_t longest = 0;
    for (const ProgramLayout& program : layout.programs)
        longest = std::max(longest, program.streams.size());
    const int schedulers = std::min(layout.machine.schedulers, layout.warps());
    const auto warps = static_cast<std::size_t>(layout.warps() / schedulers);
    const std::size_t places = longest * warps;
    if (schedulers == 1) return longest >= 256 && places >= 4096;
    if (longest >= 256) return places >= 512;
    return layout.policy != Policy::lrr && places >= 1024;
}

}  // namespace

bool InOrderEngine::can_run(const CoreLayout& layout) {
    return layout.order == Order::in_order && layout.warps() <= 64 && !layout.heeds_stalls &&
           layout.machine.subsystems.size() <= max_narrow_subsystems &&
           layout.machine.schedulers <= max_narrow_schedulers &&
           layout.machine.ops.size() <= max_scoreboard_ops &&
           std::all_of(layout.programs.begin(), layout.programs.end(), fits_scoreboard);
}

InOrderEngine::Choice InOrderEngine::choice_of(const CoreLayout& layout) {
    if (layout.select == Select::warp) return Choice::warp_first;
    return layout.policy == Policy::lrr ? Choice::ring_per_subsystem : Choice::by_age;
}

InOrderEngine::InOrderEngine(const CoreLayout& layout, bool detect_periods, Observer* observer,
                             Loop loop)
    : layout_(layout),
      wakes_(longest_latency(layout.machine)),
      schedulers_(layout.machine.schedulers),
      channels_(layout.barrier_channels),
      choice_(choice_of(layout)),
      window_(layout.machine.window ? &*layout.machine.window : nullptr),
      may_close_(window_ && !window_->always_open()),
      given_(layout.groups == 0),
      observer_(observer),
      tells_instructions_(observer && observer->hears_instructions()),
      detect_periods_(detect_periods && !observer && layout.kinds.size() == 1) {
    auto programs = std::make_shared<std::vector<InOrderProgram>>();
    for (const ProgramLayout& program : layout.programs)
        programs->push_back(in_order_program(layout, program));
    programs_ = std::move(programs);
    const auto& subsystems = layout.machine.subsystems;
    for (std::size_t s = 0; s < subsystems.size(); ++s)
        if (!subsystems[s].per_scheduler()) shared_ |= std::uint32_t{1} << s;
    if (window_) cycle_mask_ = window_->cycle_mask().value_or(-1);
    if (window_ && !may_close_) window_allows_ = window_->constant().value_or(0);
    for (std::int32_t warp = 0; warp < layout.warps(); ++warp) {
        Warp& w = warps_[warp];
        w.scheduler = layout.scheduler_of[warp];
        w.first_unit = w.scheduler * units;
        w.slot = warp / layout.group_warps;
        const Part& first =
            parts_.emplace_back(Part{s_.times.size(), s_.issues.size(), s_.iteration.size()});
        Part most;  // of whatever it may run
        for (const auto& kind : layout.kinds) {
            const InOrderProgram& program = (*programs_)[kind[warp % layout.group_warps]];
            most.times = std::max(most.times, static_cast<std::size_t>(program.places));
            most.issues = std::max(most.issues, program.ring_masks.size());
            most.iterations = std::max(most.iterations, program.loops.size());
        }
        s_.times.resize(first.times + most.times);
        s_.issues.resize(first.issues + most.issues);
        s_.iteration.resize(first.iterations + most.iterations);
    }
    words_ =
        static_cast<std::int64_t>(s_.times.size() + s_.issues.size() + s_.iteration.size()) + 512;
    s_.ahead.resize(std::size_t{1} * layout.warps() * channels_);
    s_.barrier.resize(s_.ahead.size());
    account_.instance.resize(s_.ahead.size());
    s_.arrivals.resize(std::size_t{1} * layout.slots * channels_);
    s_.group.assign(layout.slots, no_group);
    s_.unfinished.resize(layout.slots);
    s_.started.resize(std::size_t{1} * layout.slots * layout.kinds.size());
    s_.last_result.resize(layout.slots);
    s_.group_end.assign(layout.slots, never);
    s_.waiting.resize(layout.waiting_lines.size());
    point_into_state();
    s_.wake.fill(never);
    s_.turn.fill(never);
    s_.last_warp.fill(no_warp);
    s_.ring.fill(~std::uint64_t{0});
    // Rings begin with the first.
    s_.last_subsystem.fill(static_cast<std::int64_t>(subsystems.size()) - 1);
    s_.last_grant.fill(schedulers_ - 1);
    std::iota(s_.position.begin(), s_.position.end(), 0);
    s_.warp_at = s_.position;
    account_.bound.fill(WaitReason::subsystem);
    for (const MachineOp& op : layout.machine.ops) {
        const bool store = op.kind == InstructionKind::store;
        timings_.push_back({op.cpi, op.latency, store ? op.cpi : op.latency});
    }
    place_warps();
    for (std::int32_t slot = 0; slot < layout.slots && s_.launched < layout.groups; ++slot)
        launch_group(slot, next_kind());
    const bool vectors = loop == Loop::vectors || loop == Loop::short_vectors ||
                         (loop == Loop::by_size && long_bodies(layout));
    if (vectors && !observer && has_wide_vectors() && fits_lanes(layout))
        make_lanes(loop != Loop::short_vectors);
    else
        plan_all();
    // A marker needs time to go through its body.
    shortest_wait_ = 4 * std::max<std::int64_t>(words_, layout.stream_count);
    if (detect_periods_) {
        choose_marker();
    } else {
        marker_ = no_warp;
        next_choice_ = never;
    }
}

// Of all groups that have started, which is exact once they have ended.
std::int64_t InOrderEngine::busy(int scheduler, int subsystem) const {
    std::uint64_t sum = 0;
    for (int warp = 0; warp < layout_.warps(); ++warp) {
        if (layout_.scheduler_of[warp] != scheduler) continue;
        const std::size_t kinds = layout_.kinds.size();
        const std::size_t slot = warp / layout_.group_warps;
        for (std::size_t kind = 0; kind < kinds; ++kind) {
            const std::int32_t program = layout_.kinds[kind][warp % layout_.group_warps];
            sum += static_cast<std::uint64_t>(s_.started[slot * kinds + kind]) *
                   (*programs_)[program].busy[subsystem];
        }
    }
    return static_cast<std::int64_t>(sum);
}

std::int64_t InOrderEngine::free_at(int scheduler, int subsystem) const {
    return s_.free_at[scheduler * units + subsystem];
}

// Where each warp's part of the state lies.
void InOrderEngine::point_into_state() {
    for (std::int32_t warp = 0; warp < layout_.warps(); ++warp) {
        Warp& w = warps_[warp];
        w.times = s_.times.data() + parts_[warp].times;
        w.issues = s_.issues.data() + parts_[warp].issues;
        w.iterations = s_.iteration.data() + parts_[warp].iterations;
        w.last_result = &s_.last_result[w.slot];
    }
}

std::unique_ptr<Engine> InOrderEngine::clone() const {
    std::unique_ptr<InOrderEngine> copy(new InOrderEngine(*this));
    copy->point_into_state();
    return copy;
}

void InOrderEngine::start_group(std::int32_t kind) {
    const auto free = std::ranges::find(s_.group, no_group);
    launch_group(static_cast<std::int32_t>(free - s_.group.begin()), kind);
    if (!lanes_) plan_all();
}

void InOrderEngine::launch_group(std::int32_t slot, std::int32_t kind) {
    s_.group[slot] = s_.launched++;
    ++s_.started[slot * layout_.kinds.size() + kind];
    s_.unfinished[slot] = layout_.group_warps;
    s_.last_result[slot] = s_.now;
    s_.group_end[slot] = never;
    s_.age_order.push_back(slot);
    if (observer_) observer_->group_started({s_.now, slot, s_.group[slot]});
    std::fill_n(s_.arrivals.begin() + slot * channels_, channels_, 0);
    const std::int32_t first = slot * layout_.group_warps;
    for (std::int32_t warp = first; warp < first + layout_.group_warps; ++warp) {
        Warp& w = warps_[warp];
        w.program = &(*programs_)[layout_.kinds[kind][warp - first]];
        w.instructions = w.program->instructions.data();
        std::fill_n(w.times, w.program->places, 0);
        std::fill_n(w.issues, w.program->ring_masks.size(), 0);
        std::fill_n(w.iterations, w.program->loops.size(), 0);
        std::fill_n(s_.ahead.begin() + warp * channels_, channels_, 0);
        s_.head[warp] = 0;
        account_.since[warp] = s_.now;
        account_.last_finish[warp] = s_.now;
        begin_head(warp, s_.now);
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
    if (layout_.policy != Policy::lrr) place_warps();
    for_each_bit(ended, [&](std::int32_t slot) {
        if (s_.launched < layout_.groups) launch_group(slot, next_kind());
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
    if (layout_.policy != Policy::lrr) {
        std::uint64_t ready = 0;  // warps
        for (std::size_t unit = 0; unit < s_.ready.size(); ++unit)
            for_each_bit(s_.ready[unit], [&](int position) { ready |= bit(s_.warp_at[position]); });
        s_.ready.fill(0);
        place_by_age(s_, layout_);
        for_each_bit(ready,
                     [&](int warp) { s_.ready[warps_[warp].unit] |= bit(s_.position[warp]); });
    }
    for (std::size_t warp = 0; warp < warps_.size(); ++warp) {
        Warp& w = warps_[warp];
        w.position = bit(s_.position[warp]);
        w.next_try = ~std::uint64_t{0};
        if (layout_.policy == Policy::gto) w.next_try = w.position;
        if (layout_.policy == Policy::lrr) w.next_try = ~std::uint64_t{1} << s_.position[warp];
    }
    for (int j = 0; j < schedulers_; ++j) {
        const std::int32_t last = s_.last_warp[j];
        try_first_[j] = last == no_warp ? ~std::uint64_t{0} : warps_[last].next_try;
    }
}

// The rest of an issue of what is not plain. Returns the instruction that comes next, or -1.
std::int32_t InOrderEngine::issue_special(const Warp& w, std::int32_t warp, std::int64_t now) {
    keep_result(w, warp, now);
    return (w.flags & InOrderProgram::ends) != 0 ? advance_from_end(w, warp) : s_.head[warp] + 1;
}

void InOrderEngine::keep_result(const Warp& w, std::int32_t warp, std::int64_t now) {
    const std::int32_t stream = s_.head[warp];
    const InOrderProgram::Details& details = w.program->details[stream];
    if (details.ring >= 0) ++w.issues[details.ring];
    if (details.channel >= 0) {
        set_time(w, stream, 0, pending);
        arrive(w, warp, now);
        return;
    }
    const std::int64_t result =
        details.queued ? queued_until(w, warp, now) : now + w.timing.latency;
    set_time(w, stream, 0, result);
    const std::int64_t finish = details.store ? now + w.timing.cpi : result;
    s_.last_result[w.slot] = std::max(s_.last_result[w.slot], finish);
    if (observer_) report_result(w, warp, result, finish);
}

// The time of an instance of the stream, so many before its last.
void InOrderEngine::set_time(const Warp& w, std::int32_t stream, std::int64_t back,
                             std::int64_t time) {
    const InOrderProgram::Details& details = w.program->details[stream];
    if (back > details.mask) return;  // nobody asks for it any more
    const std::int64_t at =
        details.ring < 0 ? 0 : (w.issues[details.ring] - 1 - back) & details.mask;
    w.times[details.place + at] = time;
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
        begin_head(warp, now);
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

// From a loop's last instruction to its first or to what follows; -1 at the program's end.
std::int32_t InOrderEngine::advance_from_end(const Warp& w, std::int32_t warp) {
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
    if (next < static_cast<std::int32_t>(w.program->details.size())) return next;
    s_.head[warp] = next;
    s_.wake[warp] = never;
    if (warp == marker_) choose_marker();
    if (--s_.unfinished[w.slot] > 0) return -1;
    // All barriers have opened, as all warps pass equally many.
    s_.group_end[w.slot] = s_.last_result[w.slot];
    next_end_ = std::min(next_end_, s_.last_result[w.slot]);
    return -1;
}

}  // namespace occupipe::sim
