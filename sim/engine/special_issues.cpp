// SPDX-License-Identifier: MIT
// Issues that need more than a fixed delay: the end of a loop's run, instructions that wait behind
// others of their subsystem, stores whose result somebody needs.
#include <algorithm>

#include "sim/engine/event_engine.h"

namespace occupipe::sim {

// The head moves on to the next run of the innermost loop, or within a run whose first instances
// are not like the others. After the last instance nothing makes up for its credit.
void EventEngine::begin_run(const Warp& w, std::int32_t stream) const {
    const ProgramLayout::Stream& s = w.streams[stream];
    const LoopProgram& program = w.layout->program;
    Head& head = w.heads[stream];
    std::uint64_t* const credits = w.credits + s.first_credit;
    std::fill(credits, w.credits + s.last_credit, 0);
    if (head.issued == s.instances) {
        credits[0] = std::uint64_t{1} << 63;
        return;
    }
    const std::int64_t in_run = s.run == s.instances ? head.issued : head.issued % s.run;
    head.run_left = in_run < s.first_of_run ? 1 : s.run - in_run;
    head.index = program.program_index(stream, head.issued);
    const std::int32_t bits = layout_.lane_bits;
    std::int32_t lane = 0;
    for (std::int32_t e = s.first_edge; e < s.last_edge; ++e, lane += bits) {
        const LoopProgram::Edge& edge = program.edges[e];
        const std::int64_t credit = w.heads[edge.producer].completed - edge.required(head.issued);
        credits[lane / 64] += static_cast<std::uint64_t>(credit) << (lane % 64);
    }
}

// The stream after `stream` in program order: at a loop's end its first, while iterations are left.
std::int32_t EventEngine::following(const Warp& warp, std::int32_t stream) {
    std::int64_t iterations = warp.heads[stream].issued;
    const auto& loops = warp.layout->program.loops;
    for (std::int32_t l = warp.layout->program.streams[stream].loop;
         l >= 0 && loops[l].last == stream + 1; l = loops[l].parent) {
        if (iterations % loops[l].count != 0) return loops[l].first;
        iterations /= loops[l].count;
    }
    return stream + 1;
}

// Counts what the scheduler issues in the present cycle.
void EventEngine::use_window(std::int32_t scheduler, std::int64_t now) {
    std::int64_t& end = state_.window_end[scheduler];
    std::int64_t& left = state_.window_left[scheduler];
    if (now >= end) {
        const std::int64_t cycle = now / window_->cycle();
        end = (cycle + 1) * window_->cycle();
        left = window_->allowed(scheduler, cycle);
    }
    if (--left == 0) state_.open_at[scheduler] = window_->first_open(scheduler, end);
}

// Instructions without a delay and a queue of their own.
void EventEngine::issue_rare(const Warp& w, std::int32_t warp, std::int32_t stream) {
    const ProgramLayout::Stream& s = w.streams[stream];
    if (s.barrier_channel >= 0) {
        arrive_at_barrier(warp, stream);
    } else if (s.waits) {
        issue_waiting(w, warp, stream);
    } else {
        for (const std::int32_t queue :
             {std::int32_t{s.completion_queue}, std::int32_t{s.finish_queue}})
            push(queue, warp, stream, state_.now + layout_.queues[queue].delay);
    }
}

// An instruction's result is later by `wait` for each that is outstanding in its unit, but never
// before an earlier one's of the same kind.
void EventEngine::issue_waiting(const Warp& w, std::int32_t warp, std::int32_t stream) {
    const ProgramLayout::Stream& s = w.streams[stream];
    const Machine& machine = layout_.machine;
    const std::int32_t op = w.layout->program.streams[stream].op;
    const int unit = machine.unit(s.subsystem, w.scheduler);
    const std::int64_t now = state_.now;
    std::int64_t time = now + machine.ops[op].latency;
    std::size_t own = 0;
    for (std::size_t i = 0; i < state_.waiting.size(); ++i) {
        const WaitingLine& line = layout_.waiting_lines[i];
        if (line.unit != unit) continue;
        CompletionQueue& outstanding = state_.waiting[i];
        while (outstanding.next_time() <= now) outstanding.pop();
        time += machine.ops[line.op].wait * static_cast<std::int64_t>(outstanding.size());
        if (line.op == op) own = i;
    }
    CompletionQueue& same = state_.waiting[own];
    if (same.size() > 0) time = std::max(time, same.last_time());
    same.push({time, warp, stream});
    if (s.finish_queue >= 0) push(s.finish_queue, warp, stream, now + machine.ops[op].cpi);
    if (s.completion_queue >= 0)
        push(s.completion_queue + unit - machine.unit(s.subsystem, 0), warp, stream, time);
}

}  // namespace occupipe::sim
