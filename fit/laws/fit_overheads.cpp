// SPDX-License-Identifier: MIT
#include "fit/laws/fit_overheads.h"

#include <array>
#include <cmath>
#include <map>

#include "core/statistics.h"
#include "fit/curves/counters.h"
#include "fit/curves/curve.h"

namespace occupipe {
namespace {

// Event timers have undocumented steps; a part in ten thousand is finer than any.
constexpr double relative_floor = 1e-4;
// Relative error of each median where no point has a second repetition; ratios of errors matter.
constexpr double nominal_error = 0.01;

constexpr std::array counters{launches_counter, awaited_launches_counter, graph_launches_counter,
                              launch_groups_counter, loop_iterations_counter};

struct Samples {
    std::map<double, std::vector<double>> by_x;
    int rows = 0;
    int rejected = 0;
};

bool in_cycles(const std::string& over) { return over == loop_iterations_counter; }

std::optional<double> y_of(const MeasurementRow& row, const std::string& over) {
    if (row.error) return std::nullopt;
    std::optional<double> y;
    if (!in_cycles(over)) {
        y = row.seconds;
    } else if (row.cycles) {
        y = *row.cycles;
    } else if (row.clock_hz) {
        y = row.seconds * *row.clock_hz;
    }
    if (!y || !std::isfinite(*y) || !(*y > 0)) return std::nullopt;
    return y;
}

// Median per place; relative errors pooled over all places, since they share one timer.
std::vector<LinePoint> points_of(const Samples& samples, bool& errors_known) {
    std::vector<double> away;
    std::vector<std::pair<LinePoint, std::size_t>> points;
    for (const auto& [x, values] : samples.by_x) {
        const double middle = median(values);
        points.push_back({{x, middle, 0}, values.size()});
        if (values.size() < 2) continue;
        const double n = static_cast<double>(values.size());
        for (const double v : values)
            away.push_back(std::abs(v / middle - 1) * std::sqrt(n / (n - 1)));
    }
    errors_known = !away.empty();
    const double spread = errors_known ? normal_mad * median(std::move(away)) : nominal_error;
    std::vector<LinePoint> out;
    for (auto& [point, n] : points) {
        point.error = point.y * std::hypot(spread * std::sqrt(median_variance(n)), relative_floor);
        out.push_back(point);
    }
    return out;
}

}  // namespace

std::vector<OverheadFit> fit_overheads(std::span<const MeasurementFile> files) {
    using Key = std::pair<std::string, std::string>;  // subject, counter
    std::vector<Key> order;
    std::map<Key, Samples> all;
    for (const MeasurementFile& file : files)
        for (const MeasurementRow& row : file.rows)
            for (const char* over : counters) {
                const auto x = counter(row, over);
                if (!x) continue;
                const Key key{row.subject, over};
                if (!all.contains(key)) order.push_back(key);
                Samples& samples = all[key];
                ++samples.rows;
                const auto y = y_of(row, over);
                if (y && *x >= 1 && std::isfinite(*x)) {
                    samples.by_x[*x].push_back(*y);
                } else {
                    ++samples.rejected;
                }
                break;
            }
    std::vector<OverheadFit> out;
    for (const Key& key : order) {
        const Samples& samples = all.at(key);
        OverheadFit fit{key.first, key.second, in_cycles(key.second) ? "cycles" : "s", {}, 0,
                        0,         {}};
        fit.rows = samples.rows;
        fit.rejected = samples.rejected;
        LineOptions options;
        fit.points = points_of(samples, options.errors_known);
        fit.line = fit_line(fit.points, options);
        out.push_back(std::move(fit));
    }
    return out;
}

Overheads overheads_of(std::span<const OverheadFit> fits) {
    Overheads out;
    const auto set = [](std::optional<Estimate>& place, const OverheadFit& fit) {
        if (!fit.line.ok()) return;
        // Groups cost nothing until the device is full: the cost is the slope beyond the bend.
        Estimate slope = fit.line.bend ? fit.line.bend->slope : fit.line.slope;
        const double error = *slope.std_error;
        if (slope.value <= 2 * error)
            slope = {.value = slope.value + 2 * error,
                     .std_error = {},
                     .kind = Estimate::Kind::upper_bound,
                     .note = "not distinguishable from zero"};
        if (!(slope.value > 0) || !std::isfinite(slope.value)) return;
        const bool better = !place || std::pair(!slope.identifiable(), slope.value) <
                                          std::pair(!place->identifiable(), place->value);
        if (better) place = slope;
    };
    for (const OverheadFit& fit : fits) {
        if (fit.over == launches_counter) set(out.launch_seconds, fit);
        if (fit.over == awaited_launches_counter) set(out.awaited_launch_seconds, fit);
        if (fit.over == graph_launches_counter) set(out.graph_launch_seconds, fit);
        if (fit.over == launch_groups_counter) set(out.group_seconds, fit);
        if (fit.over == loop_iterations_counter) set(out.loop_cycles, fit);
    }
    return out;
}

}  // namespace occupipe
