// SPDX-License-Identifier: MIT
// The engine's account of itself, for observers only.
#include <algorithm>

#include "sim/engine/engine.h"
#include "sim/machine/bits.h"

namespace occupipe::sim {

void Engine::report_issue(std::int32_t warp, std::int32_t stream) const {
    observer_->issued(
        {state_.now, warp, stream, warps_[warp].heads[stream].issued, warps_[warp].scheduler});
}

// Called when nothing more can issue now: nothing changes for any warp until `until`.
void Engine::report_waits(std::int64_t until) const {
    for (std::int32_t warp = 0; warp < layout_.warps(); ++warp)
        observer_->waited({state_.now, until, warp, wait_of(warp)});
}

// The wait of the lowest-index instruction: of those that are ready if any is, else of all that
// have not issued.
Wait Engine::wait_of(std::int32_t warp) const {
    const Warp& w = warps_[warp];
    if (state_.group[w.slot] == no_group) return {.reason = WaitReason::empty};
    std::optional<std::int32_t> ready;
    std::optional<std::int32_t> blocked;
    for (std::int32_t s = 0; s < static_cast<std::int32_t>(w.layout->streams.size()); ++s) {
        const Head& head = w.heads[s];
        if (head.issued == w.streams[s].instances) continue;
        auto& first = (w.ready[s / 64] & bit(s)) != 0 ? ready : blocked;
        if (!first || head.index < w.heads[*first].index) first = s;
    }
    if (ready) return wait_of_ready(w, *ready);
    if (blocked) return wait_of_blocked(w, *blocked, layout_.machine);
    return {.reason = is_outstanding(warp) ? WaitReason::drain : WaitReason::group};
}

// Has the warp issued something that has not finished?
bool Engine::is_outstanding(std::int32_t warp) const {
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

// Of subsystem and issue window, the one that is free later binds.
Wait Engine::wait_of_ready(const Warp& warp, std::int32_t stream) const {
    const std::int32_t at = warp.scheduler * units_ + warp.streams[stream].subsystem;
    const bool window_binds = first_open(warp.scheduler, state_.now) > state_.subsystem_free_at[at];
    return {.reason = window_binds ? WaitReason::issue_limit : WaitReason::subsystem,
            .stream = stream};
}

// Of the dependences that are missing, the one named first.
Wait Engine::wait_of_blocked(const Warp& warp, std::int32_t stream, const Machine& machine) {
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
