// SPDX-License-Identifier: MIT
#include "fit/step_time.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

namespace occupipe {
namespace {

PointPlace place_of(const CurvePoint& p) { return {p.shape, p.busiest, p.bytes_in_flight}; }

// Weighted least squares (any textbook); the error is widened by χ² per degree of freedom where
// the points scatter by more than theirs.
std::optional<Estimate> slope_over_depth(std::span<const CurvePoint> points) {
    double w0 = 0, wn = 0, wt = 0;
    const auto weight = [](const CurvePoint& p) { return std::pow(p.log_error * p.cycles, -2); };
    for (const CurvePoint& p : points) {
        const double w = weight(p);
        w0 += w;
        wn += w * static_cast<double>(p.shape.depth);
        wt += w * p.cycles;
    }
    double nn = 0, nt = 0;
    for (const CurvePoint& p : points) {
        const double n = static_cast<double>(p.shape.depth) - wn / w0;
        nn += weight(p) * n * n;
        nt += weight(p) * n * (p.cycles - wt / w0);
    }
    if (!(nn > 0) || !std::isfinite(nn) || !(nt > 0)) return std::nullopt;
    Estimate slope;
    slope.value = nt / nn;
    double chi_square = 0;
    for (const CurvePoint& p : points) {
        const double n = static_cast<double>(p.shape.depth) - wn / w0;
        chi_square += weight(p) * std::pow(p.cycles - wt / w0 - slope.value * n, 2);
    }
    const double freedom = static_cast<double>(points.size()) - 2;
    const double widen = freedom > 0 ? std::max(1.0, chi_square / freedom) : 1.0;
    slope.std_error = std::sqrt(widen / nn);
    if (!std::isfinite(slope.value) || !std::isfinite(*slope.std_error)) return std::nullopt;
    return slope;
}

struct Row {
    double weight = 0;
    double cpi = 0;  // weighted sums of λ and Λ
    double latency = 0;
    std::vector<StepTime> steps;
};

Estimate pooled(const Row& row, double sum, const std::function<double(const StepTime&)>& value,
                const std::function<double(const StepTime&)>& error) {
    Estimate e;
    e.value = sum / row.weight;
    double squares = 0;
    double weight = 0;
    for (const StepTime& s : row.steps) {
        const double w = std::pow(error(s), -2);
        weight += w;
        squares += w * std::pow(value(s) - e.value, 2);
    }
    const double freedom = static_cast<double>(row.steps.size()) - 1;
    const double widen = freedom > 0 ? std::max(1.0, squares / freedom) : 1.0;
    e.std_error = std::sqrt(widen / weight);
    return e;
}

}  // namespace

std::vector<StepTime> step_times(const Curve& curve) {
    std::vector<StepTime> out;
    const std::vector<CurvePoint>& points = curve.points;
    for (std::size_t begin = 0, end = 0; begin < points.size(); begin = end) {
        const PointPlace place = place_of(points[begin]);
        for (end = begin; end < points.size() && place.same_but_depth(place_of(points[end]));)
            ++end;
        const std::span here(points.data() + begin, end - begin);
        if (here.size() < 2) continue;
        if (auto slope = slope_over_depth(here)) out.push_back({place, *slope});
    }
    return out;
}

ParameterTable step_table(const Curve& curve, const std::string& over,
                          const std::function<std::optional<double>(const StepTime&)>& axis) {
    std::map<double, Row> rows;
    for (const StepTime& step : step_times(curve)) {
        const auto at = axis(step);
        if (!at || !(*at > 0)) continue;
        Row& row = rows[*at];
        const double w = std::pow(*step.cycles.std_error / step.cycles.value, -2);
        row.weight += w;
        row.cpi += w * step.cycles.value / step.in_flight();
        row.latency += w * step.cycles.value;
        row.steps.push_back(step);
    }
    ParameterTable table;
    table.over = over;
    if (rows.size() < 2) return table;
    for (const auto& [at, row] : rows) {
        TableRow out;
        out.at = at;
        out.cpi = pooled(
            row, row.cpi, [](const StepTime& s) { return s.cycles.value / s.in_flight(); },
            [](const StepTime& s) { return *s.cycles.std_error / s.in_flight(); });
        if (!curve.independent)
            out.latency = pooled(
                row, row.latency, [](const StepTime& s) { return s.cycles.value; },
                [](const StepTime& s) { return *s.cycles.std_error; });
        table.rows.push_back(std::move(out));
    }
    return table;
}

}  // namespace occupipe
