// SPDX-License-Identifier: MIT
#include "analysis/explanation/line_intervals.h"

#include <algorithm>
#include <vector>

#include "core/parallel.h"

namespace occupipe::analysis {

int draws_by_line(const Annotation& annotation, int draws) {
    constexpr double most_instructions = 2e7;
    constexpr int least_draws = 20;
    double per_warp = 0;
    for (const AnnotatedInstruction& one : annotation.instructions)
        per_warp += one.spent.executions_per_warp;
    const double of_core = std::max(1.0, per_warp * static_cast<double>(annotation.core_warps));
    const double affordable = most_instructions / of_core;
    const int many = affordable < draws ? static_cast<int>(affordable) : draws;
    return many < least_draws ? 0 : many;
}

void add_intervals(Annotation& annotation, const GpuProfile& profile, const Kernel& kernel,
                   const Launch& launch, const SimulationOptions& options, int draws,
                   std::uint64_t seed, const Prepare& prepare) {
    if (draws < 1) return;
    const auto many = static_cast<std::size_t>(draws);
    std::vector<std::vector<double>> cycles(annotation.instructions.size(),
                                            std::vector<double>(many));
    parallel_for(many, [&](std::size_t i) {
        const GpuProfile drawn = drawn_profile(profile, seed, i);
        const PreparedKernel ready =
            prepare ? prepare(kernel, drawn) : PreparedKernel{kernel, drawn};
        const Annotation one = annotate(ready.profile, ready.kernel, launch, options);
        for (std::size_t at = 0; at < cycles.size(); ++at)
            cycles[at][i] = one.instructions.at(at).spent.cycles();
    });
    for (AnnotatedLine& line : annotation.lines) {
        if (line.instructions.empty()) continue;
        std::vector<double> sum(many);
        for (const std::size_t at : line.instructions)
            for (std::size_t i = 0; i < many; ++i) sum[i] += cycles[at][i];
        line.interval = interval_of(std::move(sum));
    }
    for (std::size_t at = 0; at < cycles.size(); ++at)
        annotation.instructions[at].interval = interval_of(std::move(cycles[at]));
    annotation.interval_draws = draws;
}

}  // namespace occupipe::analysis
