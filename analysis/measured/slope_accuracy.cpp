// SPDX-License-Identifier: MIT
#include "analysis/measured/slope_accuracy.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "analysis/measured/comparison.h"
#include "analysis/measured/measured_graph.h"
#include "core/error.h"
#include "sim/engine/simulate.h"
#include "sim/engine/time_limit.h"

namespace occupipe::analysis {
namespace {

void add(double relative, SlopeErrors& errors) {
    ++errors.shapes;
    errors.mean += (std::abs(relative) - errors.mean) / errors.shapes;
    if (std::abs(relative) > std::abs(errors.worst)) errors.worst = relative;
}

double predicted_cycles(const MeasuredGraphs& graphs, const MeasuredPoint& point) {
    const Launch launch{.group_warps = point.shape.group_warps,
                        .concurrent_groups = point.shape.concurrent_groups,
                        .groups = static_cast<std::int64_t>(point.shape.concurrent_groups) *
                                  graphs.profile().cores};
    return simulate(graphs.profile(), graphs.graph(point.kernel, point.shape), launch,
                    {.checkpoint = time_limit()})
        .cycles;
}

// Relative error of the slope between the shortest and the longest run of one shape; nullopt where
// there is only one depth or the profile lacks an instruction.
std::optional<double> slope_error(const MeasuredGraphs& graphs, const MeasuredPoint& shortest,
                                  const MeasuredPoint& longest) {
    const double measured = longest.cycles - shortest.cycles;
    if (shortest.shape.depth == longest.shape.depth || !(measured > 0)) return std::nullopt;
    try {
        const double predicted =
            predicted_cycles(graphs, longest) - predicted_cycles(graphs, shortest);
        return predicted / measured - 1;
    } catch (const InputError&) {
        return std::nullopt;  // an instruction that could not be fitted
    }
}

}  // namespace

SlopeAccuracy slope_accuracy(const MeasurementFile& file, const GpuProfile& profile) {
    using Key = std::tuple<std::string, int, int, int>;
    std::map<Key, std::vector<MeasuredPoint>> curves;
    for (const MeasuredPoint& point : measured_points(file)) {
        const MeasurementShape& s = point.shape;
        curves[{point.subject, s.group_warps, s.concurrent_groups, s.chains}].push_back(point);
    }
    SlopeAccuracy out;
    const MeasuredGraphs graphs(profile);
    for (const auto& [key, points] : curves) {
        const auto by_depth = [](const MeasuredPoint& point) { return point.shape.depth; };
        const auto [shortest, longest] = std::ranges::minmax_element(points, {}, by_depth);
        const std::string& subject = std::get<0>(key);
        if (const auto error = slope_error(graphs, *shortest, *longest))
            add(*error, (parse_mix(subject) ? out.mixes : out.fitted)[subject]);
    }
    return out;
}

}  // namespace occupipe::analysis
