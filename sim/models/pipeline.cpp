// SPDX-License-Identifier: MIT
// The Pipeline model: Lemeire et al., "Analysis of the analytical performance models for GPUs and
// extracting the underlying Pipeline model", section 3. The simulation with a verdict.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "sim/models/model.h"

namespace occupipe {
namespace {

// Λ_app of the warps [cycles]: the mean, and that of the longest.
struct Alone {
    double mean = 0;
    double most = 0;
};

Alone alone(const Problem& problem, const ModelOptions& options) {
    const std::vector<double> shares = problem.groups().program_shares();
    Alone alone;
    for (std::size_t program = 0; program < shares.size(); ++program) {
        if (shares[program] <= 0) continue;
        const double cycles = cycles_of_program(problem, program, options);
        alone.mean += shares[program] * cycles;
        alone.most = std::max(alone.most, cycles);
    }
    return alone;
}

// The run takes at least the busy time of each subsystem and port, and about Λ_app for each group
// that a slot runs; where groups differ, at least the Λ_app of the longest warp. The largest of
// these is what limits.
std::string limit_of(const Problem& problem, const SimulationResult& run, const Alone& alone) {
    const auto busiest = std::max_element(
        run.bounds.begin(), run.bounds.end(),
        [](const Bound& a, const Bound& b) { return a.utilisation < b.utilisation; });
    const std::int64_t slots =
        std::min<std::int64_t>(problem.launch().concurrent_groups, run.groups);
    double least = alone.mean * static_cast<double>(run.groups) / static_cast<double>(slots);
    if (!problem.groups().alike()) least = std::max(least, alone.most);
    return least / run.cycles > busiest->utilisation ? "latency" : busiest->name;
}

}  // namespace

Prediction predict_pipeline(const Problem& problem, const ModelOptions& options) {
    // An estimate may use up the limit, after which nothing can be simulated any more.
    std::optional<Alone> warps;
    if (options.estimate) warps = alone(problem, options);
    const SimulationResult run =
        simulate(problem, options.simulation(), options.observers_of_run());
    if (!warps) warps = alone(problem, options);
    const Launch& launch = problem.launch();
    Prediction prediction;
    prediction.model = "pipeline";
    prediction.launch = launch;
    prediction.groups_per_core = run.groups;
    prediction.cycles = run.cycles;
    prediction.seconds = kernel_seconds(problem.gpu(), run.cycles, launch.groups);
    prediction.warps_per_cycle =
        static_cast<double>(prediction.groups_per_core) * launch.group_warps / run.cycles;
    prediction.cycles_per_run =
        static_cast<double>(launch.group_warps *
                            std::min<std::int64_t>(launch.concurrent_groups, run.groups)) /
        prediction.warps_per_cycle;
    const WarpLoad load = warp_load(problem);
    prediction.instructions_per_cycle =
        static_cast<double>(run.issued) * (1 - load.further_slots / load.instructions) / run.cycles;
    prediction.bounds = run.bounds;
    prediction.limited_by = limit_of(problem, run, *warps);
    if (run.estimate) {
        prediction.estimate_error = run.estimate->error;
        prediction.assumptions.push_back(fmt::format(
            "an estimate, from a part of the run or smaller ones; the bound of the error of its "
            "cycles, as observed in these, is {:.2g} %",
            100 * run.estimate->error));
    }
    if (run.scale.rounded)
        prediction.assumptions.emplace_back("times are rounded to multiples of 10^-6 cycles");
    return prediction;
}

}  // namespace occupipe
