// SPDX-License-Identifier: MIT
#include "sim/engine/run_limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"

namespace occupipe::sim {

RunLimits::RunLimits(const CoreLayout& layout, const SimulationOptions& options)
    : layout_(layout), options_(options) {}

void RunLimits::check(const State& state) {
    const RunProgress progress = {.simulated = state.issued - state.skipped,
                                  .issued = state.issued,
                                  .instructions = static_cast<double>(layout_.group_instructions) *
                                                  static_cast<double>(layout_.groups),
                                  .groups = state.ended_groups,
                                  .all_groups = layout_.groups,
                                  .cycles = layout_.machine.scale.to_cycles(state.now)};
    if (options_.checkpoint) options_.checkpoint(progress);
    if (progress.simulated > options_.max_simulated)
        throw LimitReached(fmt::format("no answer after {} instructions issued one by one: {}",
                                       options_.max_simulated, to_text(progress)));
    next_check_ = std::min(progress.simulated + checkpoint_interval, options_.max_simulated + 1);
}

// Between two checks the queues grow by no more than two events an instruction.
void RunLimits::check_outstanding(std::span<const CompletionQueue> queues) const {
    std::size_t outstanding = 0;
    const CompletionQueue* longest = nullptr;
    for (const CompletionQueue& queue : queues) {
        outstanding += queue.size();
        if (!longest || queue.size() > longest->size()) longest = &queue;
    }
    if (outstanding <= static_cast<std::size_t>(max_outstanding)) return;
    const CompletionEvent& event = longest->at(0);
    // Where groups differ, the event does not tell which program its stream is of.
    const std::string of =
        layout_.kinds.size() > 1
            ? "one instruction"
            : "'" + layout_.programs[layout_.program_of[event.warp]].program.ids[event.stream] +
                  "'";
    throw InputError(
        fmt::format("{} results are outstanding at once, most of them of {}, and only {} fit: its "
                    "Λ is too long beside its λ for a kernel in which nothing waits for it soon",
                    outstanding, of, max_outstanding));
}

}  // namespace occupipe::sim
