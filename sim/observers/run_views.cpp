// SPDX-License-Identifier: MIT
#include "sim/observers/run_views.h"

namespace occupipe::sim {

RunViews::RunViews(const Wanted& wanted) {
    if (wanted.stalls) observers_.push_back(&stalls_.emplace());
    if (wanted.timeline_cycles) observers_.push_back(&timeline_.emplace(*wanted.timeline_cycles));
    if (!observers_.empty()) observers_.push_back(&seen_);
}

void RunViews::run(const Problem& problem, const SimulationOptions& options) {
    if (!observers_.empty() && !seen_.ended_run) simulate(problem, options, observers_);
}

}  // namespace occupipe::sim
