// SPDX-License-Identifier: MIT
#include "fit/tables/subject_tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/instruction.h"
#include "fit/curves/counters.h"
#include "fit/curves/step_time.h"

namespace occupipe {

std::vector<ParameterTable> subject_tables(const Curve& curve, TimingFit& fit) {
    std::vector<ParameterTable> out;
    const auto keep = [&](ParameterTable table) {
        if (!table.rows.empty()) out.push_back(std::move(table));
    };
    keep(step_table(curve, bytes_in_flight_counter, [](const StepTime& step) {
        return step.place.bytes > 0 ? std::optional(step.place.bytes) : std::nullopt;
    }));
    if (const auto distances = two_distances(steps_alone(curve, fit))) {
        ParameterTable table{.over = "half_of_cores", .note = distances->note, .rows = {}};
        table.rows.push_back({.at = 1, .cpi = {}, .latency = distances->near});
        table.rows.push_back({.at = 2, .cpi = {}, .latency = distances->far});
        keep(std::move(table));
    }
    if (!fit.misfit || fit.misfit->relative_size < no_law_misfit) return out;
    const int schedulers = schedulers_seen(curve);
    ParameterTable table =
        step_table(curve, "in_flight", [&](const StepTime& step) -> std::optional<double> {
            const int even = (step.place.shape.warps() + schedulers - 1) / schedulers;
            if (step.place.busiest > even) return std::nullopt;
            return step.in_flight();
        });
    if (table.rows.empty()) return out;
    table.note = fmt::format("no law fits within {:.0f} %", 100 * no_law_misfit);
    fit.notes.push_back("no law fits: see the table over instructions in flight");
    keep(std::move(table));
    return out;
}

std::optional<LineFit> barrier_line(const Curve& curve) {
    if (kind_of(curve.subject) != InstructionKind::barrier) return std::nullopt;
    std::vector<LinePoint> points;
    for (const StepTime& step : step_times(curve)) {
        if (step.place.shape.concurrent_groups != 1) continue;
        const double error = std::max(*step.cycles.std_error, 1e-4 * step.cycles.value);
        points.push_back({step.place.shape.group_warps - 1.0, step.cycles.value, error});
    }
    if (points.size() < 3) return std::nullopt;
    LineOptions options;
    options.errors_known = curve.spread_known;
    return fit_line(points, options);
}

}  // namespace occupipe
