// SPDX-License-Identifier: MIT
#include "report/text/accuracy_on_measurements.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "analysis/comparison.h"
#include "analysis/measured_graph.h"
#include "core/error.h"
#include "report/text/text_table.h"
#include "sim/engine/simulate.h"
#include "sim/engine/time_limit.h"

namespace occupipe::report {
namespace {

struct Errors {
    int shapes = 0;
    double sum = 0;    // of |predicted - measured| / measured
    double worst = 0;  // the one furthest from zero, signed
    void add(double relative) {
        ++shapes;
        sum += std::abs(relative);
        if (std::abs(relative) > std::abs(worst)) worst = relative;
    }
};

double predicted_cycles(const analysis::MeasuredGraphs& graphs,
                        const analysis::MeasuredPoint& point) {
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
std::optional<double> slope_error(const analysis::MeasuredGraphs& graphs,
                                  const analysis::MeasuredPoint& shortest,
                                  const analysis::MeasuredPoint& longest) {
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

std::string section(const std::string& title, const std::map<std::string, Errors>& errors) {
    if (errors.empty()) return {};
    TextTable table{{"subject", "shapes", "mean |error|", "largest error"},
                    {Align::left, Align::right, Align::right, Align::right},
                    {}};
    Errors all;
    for (const auto& [subject, e] : errors) {
        table.rows.push_back({subject, std::to_string(e.shapes),
                              fmt::format("{:.1f} %", 100 * e.sum / e.shapes),
                              fmt::format("{:+.1f} %", 100 * e.worst)});
        all.shapes += e.shapes;
        all.sum += e.sum;
    }
    return fmt::format("### {}\n\n{}\nMean over all shapes: {:.1f} %.\n\n", title, markdown(table),
                       100 * all.sum / all.shapes);
}

}  // namespace

std::string self_check(const MeasurementFile& file, const GpuProfile& profile) {
    using Key = std::tuple<std::string, int, int, int>;
    std::map<Key, std::vector<analysis::MeasuredPoint>> curves;
    for (const analysis::MeasuredPoint& point : analysis::measured_points(file)) {
        const MeasurementShape& s = point.shape;
        curves[{point.subject, s.group_warps, s.concurrent_groups, s.chains}].push_back(point);
    }
    std::map<std::string, Errors> fitted;
    std::map<std::string, Errors> mixes;
    const analysis::MeasuredGraphs graphs(profile);
    for (const auto& [key, points] : curves) {
        const auto by_depth = [](const analysis::MeasuredPoint& point) {
            return point.shape.depth;
        };
        const auto [shortest, longest] = std::ranges::minmax_element(points, {}, by_depth);
        const std::string& subject = std::get<0>(key);
        if (const auto error = slope_error(graphs, *shortest, *longest)) {
            (parse_mix(subject) ? mixes : fitted)[subject].add(*error);
        }
    }
    return "## Self-check: measured against simulated cycles per instruction\n\n" +
           section("Mixes, whose times the fit has not used", mixes) +
           section("Instructions, which the profile was fitted to", fitted);
}

}  // namespace occupipe::report
