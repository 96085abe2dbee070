// SPDX-License-Identifier: MIT
// The engine's account of itself, for observers only.
#include <algorithm>

#include "sim/engine/event_engine.h"
#include "sim/machine/bits.h"

namespace occupipe::sim {

void EventEngine::report_issue(std::int32_t warp, std::int32_t stream) const {
    if (!tells_instructions_) return;
    observer_->issued(
        {state_.now, warp, stream, warps_[warp].heads[stream].issued, warps_[warp].scheduler});
}

// Before it is counted.
void EventEngine::report_completion(const CompletionEvent& event) const {
    if (!tells_instructions_) return;
    observer_->completed(
        {event.time, event.warp, event.stream, warps_[event.warp].heads[event.stream].completed});
}

// Of the ready warps that nothing has happened to, only that may change which of subsystem and
// issue window holds them back.
void EventEngine::note_bounds() {
    if (!window_) return;
    for (std::int32_t unit = 0; unit < static_cast<std::int32_t>(ready_at_.size()); ++unit) {
        if (ready_at_[unit] == 0) continue;
        const WaitReason bound = bound_of(unit / units_, unit % units_);
        if (bound == bound_[unit]) continue;
        bound_[unit] = bound;
        for (std::int32_t warp = 0; warp < layout_.warps(); ++warp) {
            if (waits_[warp].unit != unit || waits_[warp].touched) continue;
            report_wait(warp);
            waits_[warp].wait.reason = bound;
        }
    }
}

// Called when nothing more can issue now: nothing changes for any warp until the next event.
void EventEngine::note_waits() {
    note_bounds();
    for (const std::int32_t warp : touched_) {
        Waiting& waiting = waits_[warp];
        const Wait wait = wait_of(warp);
        waiting.touched = false;
        if (waiting.unit >= 0) --ready_at_[waiting.unit];
        waiting.unit = -1;
        if (wait.reason == WaitReason::subsystem || wait.reason == WaitReason::issue_limit) {
            const Warp& w = warps_[warp];
            waiting.unit = w.scheduler * units_ + w.streams[*wait.stream].subsystem;
            ++ready_at_[waiting.unit];
            bound_[waiting.unit] = wait.reason;
        }
        if (wait == waiting.wait) continue;
        report_wait(warp);
        waiting.wait = wait;
    }
    touched_.clear();
}

// Up to now.
void EventEngine::report_wait(std::int32_t warp) {
    Waiting& waiting = waits_[warp];
    if (waiting.since < state_.now)
        observer_->waited({waiting.since, state_.now, warp, waiting.wait});
    waiting.since = state_.now;
}

void EventEngine::report_last_waits() {
    for (std::int32_t warp = 0; warp < layout_.warps(); ++warp) report_wait(warp);
}

// The wait of the lowest-index instruction: of those that are ready if any is, else of all that
// have not issued.
Wait EventEngine::wait_of(std::int32_t warp) {
    const Warp& w = warps_[warp];
    if (state_.group[w.slot] == no_group) return {.reason = WaitReason::empty};
    if (const auto ready = first_ready(w)) return wait_of_ready(w, *ready);
    if (const auto blocked = first_unissued(w, warp)) {
        if (in_order_ && state_.next_in_order[warp] < 0 && satisfied_wide(w, *blocked))
            return {.reason = WaitReason::stall, .stream = blocked};
        return wait_of_blocked(w, *blocked, layout_.machine);
    }
    return {.reason = is_outstanding(warp) ? WaitReason::drain : WaitReason::group};
}

std::optional<std::int32_t> EventEngine::first_ready(const Warp& w) const {
    std::optional<std::int32_t> first;
    std::int64_t index = 0;
    const auto consider = [&](std::int32_t stream, std::int64_t its_index) {
        if (first && its_index >= index) return;
        first = stream;
        index = its_index;
    };
    if (w.lists != nullptr) {
        for (std::int32_t subsystem = 0; subsystem < subsystems_; ++subsystem)
            if (const ReadyList& list = w.lists[subsystem]; !list.empty())
                consider(list.front().stream, list.front().index);
        return first;
    }
    for (std::int32_t word = 0; word < w.words; ++word)
        for (std::uint64_t set = w.ready[word]; set != 0; set &= set - 1) {
            const std::int32_t stream = 64 * word + lowest_bit(set);
            consider(stream, w.heads[stream].index);
            // Text order is program order, unless one of the same loop is iterations behind.
            if (stream >= w.streams[*first].top_end) return first;
            if (layout_.narrow) set &= w.streams[*first].rivals | bit(stream);
        }
    return first;
}

// Goes on from where it was found last, as long as the text is straight.
std::optional<std::int32_t> EventEngine::first_unissued(const Warp& w, std::int32_t number) {
    Waiting& waiting = waits_[number];
    const auto& streams = w.layout->program.streams;
    const auto count = static_cast<std::int32_t>(streams.size());
    const auto finished = [&](std::int32_t s) {
        return w.heads[s].issued == w.streams[s].instances;
    };
    const auto unissued = [&] {
        return !finished(waiting.oldest) && w.heads[waiting.oldest].index == waiting.oldest_index;
    };
    while (!unissued() && waiting.oldest + 1 < count &&
           streams[waiting.oldest + 1].loop == streams[waiting.oldest].loop) {
        ++waiting.oldest;
        ++waiting.oldest_index;
    }
    if (unissued()) return waiting.oldest;
    std::optional<std::int32_t> first;
    for (std::int32_t s = 0; s < count; ++s)
        if (!finished(s) && (!first || w.heads[s].index < w.heads[*first].index)) first = s;
    if (first) {
        waiting.oldest = *first;
        waiting.oldest_index = w.heads[*first].index;
    }
    return first;
}

// Has the warp issued something that has not finished?
bool EventEngine::is_outstanding(std::int32_t warp) const {
    for (std::size_t q = 0; q < state_.queues.size(); ++q) {
        if (!layout_.queues[q].finishes) continue;
        const CompletionQueue& queue = state_.queues[q];
        for (std::size_t i = 0; i < queue.size(); ++i)
            if (queue.at(i).warp == warp) return true;
    }
    // A barrier at which others have not arrived yet is in no queue.
    const Warp& w = warps_[warp];
    for (std::size_t s = 0; s < w.layout->streams.size(); ++s)
        if (w.streams[s].barrier_channel >= 0 && w.heads[s].completed < w.heads[s].issued)
            return true;
    return false;
}

// Of subsystem and issue window, the one that is free later binds: the window where it is closed
// when the subsystem will be free.
WaitReason EventEngine::bound_of(std::int32_t scheduler, std::int32_t subsystem) const {
    const std::int64_t free =
        std::max(state_.now, units_now_.free_at[scheduler * units_ + subsystem]);
    if (!window_) return WaitReason::subsystem;
    std::int64_t open = std::max(free, units_now_.open_at[scheduler]);
    if (!window_->always_open()) open = window_->first_open(scheduler, open);
    return open > free ? WaitReason::issue_limit : WaitReason::subsystem;
}

Wait EventEngine::wait_of_ready(const Warp& warp, std::int32_t stream) const {
    return {.reason = bound_of(warp.scheduler, warp.streams[stream].subsystem), .stream = stream};
}

// Of the dependences that are missing, the one named first.
Wait EventEngine::wait_of_blocked(const Warp& warp, std::int32_t stream, const Machine& machine) {
    const auto& edges = warp.layout->program.edges;
    std::int32_t e = warp.streams[stream].first_edge;
    const auto satisfied = [&] {
        return warp.heads[edges[e].producer].completed >=
               edges[e].required(warp.heads[stream].issued);
    };
    while (satisfied()) ++e;
    const std::int32_t producer = edges[e].producer;
    const bool barrier =
        machine.ops[warp.layout->program.streams[producer].op].kind == InstructionKind::barrier;
    return {.reason = barrier ? WaitReason::barrier : WaitReason::dependence,
            .stream = stream,
            .producer = producer};
}

}  // namespace occupipe::sim
