// SPDX-License-Identifier: MIT
// The in-order engine's account of itself, for observers only. A warp's wait is told when it ends:
// until then nobody asks, and the times of all that it waited for are in its scoreboard.
#include <algorithm>

#include "sim/engine/in_order_engine.h"
#include "sim/machine/bits.h"

namespace occupipe::sim {

// The number of the instance that is, or would be, issued next.
std::int64_t InOrderEngine::instance(const Warp& w, std::int32_t stream) {
    std::int64_t number = 0;
    std::int64_t each = 1;
    for (std::int32_t l = w.program->details[stream].loop; l >= 0; l = w.program->loops[l].parent) {
        number += each * w.iterations[l];
        each *= w.program->loops[l].count;
    }
    return number;
}

// Before the scoreboard learns of it.
void InOrderEngine::report_issue(const Warp& w, std::int32_t warp, std::int64_t now) {
    const std::int32_t stream = s_.head[warp];
    report_blocked(w, warp, account_.ready_since[warp]);
    report_ready(warp, now);
    account_.since[warp] = now;
    if (tells_instructions_)
        observer_->issued({now, warp, stream, instance(w, stream), w.scheduler});
}

// `finish`: from then on the group may end.
void InOrderEngine::report_result(const Warp& w, std::int32_t warp, std::int64_t result,
                                  std::int64_t finish) {
    account_.last_finish[warp] = std::max(account_.last_finish[warp], finish);
    if (!tells_instructions_) return;
    const std::int32_t stream = s_.head[warp];
    if (w.program->details[stream].completes)
        observer_->completed({result, warp, stream, instance(w, stream)});
}

void InOrderEngine::report_barrier(const Warp& w, std::int32_t warp, std::int32_t channel,
                                   std::int64_t time) {
    const std::int32_t own = warp * channels_ + channel;
    const std::int32_t stream = s_.barrier[own];
    account_.last_finish[warp] = std::max(account_.last_finish[warp], time);
    if (tells_instructions_ && w.program->details[stream].completes)
        observer_->completed({time, warp, stream, account_.instance[own] - s_.ahead[own]});
}

// Of the results that were missing, the one named first.
void InOrderEngine::report_blocked(const Warp& w, std::int32_t warp, std::int64_t until) {
    std::int64_t from = account_.since[warp];
    const std::int32_t stream = s_.head[warp];
    const InOrderProgram::Details& details = w.program->details[stream];
    while (from < until) {
        std::int32_t l = details.first_lookup;
        while (look_up(w, w.program->lookups[l]) <= from) ++l;
        const std::int32_t producer = w.program->lookups[l].stream;
        const std::int64_t there = look_up(w, w.program->lookups[l]);
        const bool barrier = w.program->details[producer].channel >= 0;
        observer_->waited({from,
                           there,
                           warp,
                           {.reason = barrier ? WaitReason::barrier : WaitReason::dependence,
                            .stream = stream,
                            .producer = producer}});
        from = there;
    }
}

void InOrderEngine::report_ready(std::int32_t warp, std::int64_t until) {
    std::int64_t& from = account_.ready_since[warp];
    if (from < until)
        observer_->waited({from,
                           until,
                           warp,
                           {.reason = account_.bound[warps_[warp].unit], .stream = s_.head[warp]}});
    from = until;
    account_.since[warp] = until;
}

// Called when nothing more can issue now: of subsystem and issue window, the one that is free later
// holds back all warps that are ready for the subsystem (EventEngine::bound_of()).
void InOrderEngine::note_bounds() {
    const auto subsystems = static_cast<int>(layout_.machine.subsystems.size());
    for (int scheduler = 0; scheduler < schedulers_; ++scheduler) {
        for (int unit = scheduler * units; unit < scheduler * units + subsystems; ++unit) {
            if (s_.ready[unit] == 0) continue;
            const std::int64_t free = std::max(s_.now, s_.free_at[unit]);
            std::int64_t open = std::max(free, s_.open_at[scheduler]);
            if (may_close_) open = window_->first_open(scheduler, open);
            const WaitReason bound = open > free ? WaitReason::issue_limit : WaitReason::subsystem;
            if (bound == account_.bound[unit]) continue;
            for_each_bit(s_.ready[unit], [&](int position) {
                const std::int32_t warp = s_.warp_at[position];
                if (account_.ready_since[warp] == s_.now) return;
                report_blocked(warps_[warp], warp, account_.ready_since[warp]);
                report_ready(warp, s_.now);
            });
            account_.bound[unit] = bound;
        }
    }
}

void InOrderEngine::report_group_end(std::int32_t slot) {
    const std::int32_t first = slot * layout_.group_warps;
    for (std::int32_t warp = first; warp < first + layout_.group_warps; ++warp) {
        std::int64_t& since = account_.since[warp];
        const std::int64_t drained = account_.last_finish[warp];
        if (since < drained) observer_->waited({since, drained, warp, {WaitReason::drain, {}, {}}});
        since = std::max(since, drained);
        if (since < s_.now) observer_->waited({since, s_.now, warp, {WaitReason::group, {}, {}}});
        since = s_.now;
    }
    observer_->group_ended({s_.now, slot, s_.group[slot]});
}

void InOrderEngine::report_unused_slots() {
    for (std::int32_t warp = 0; warp < layout_.warps(); ++warp)
        if (account_.since[warp] < s_.now)
            observer_->waited({account_.since[warp], s_.now, warp, {WaitReason::empty, {}, {}}});
}

}  // namespace occupipe::sim
