// SPDX-License-Identifier: MIT
#include "fit/laws/proportion.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/statistics.h"

namespace occupipe {
namespace {

struct Growth {
    int in_flight = 0;
    double log = 0;  // of a step's time in the longest run over a step's in the shortest
};

double log_step(const CurvePoint& p, double once) {
    constexpr double most = 0.5;  // of a run
    return std::log((p.cycles - std::clamp(once, 0.0, most * p.cycles)) /
                    static_cast<double>(p.shape.depth));
}

// Of every place; by one loop body, since bodies have their own share of the loop's control.
std::vector<Growth> growths(const Curve& curve, std::span<const double> once) {
    std::vector<Growth> out;
    const std::vector<CurvePoint>& points = curve.points;
    const auto place = [&](std::size_t i) {
        const CurvePoint& p = points[i];
        return PointPlace{p.shape, p.busiest, p.bytes_in_flight, p.body};
    };
    for (std::size_t begin = 0, end = 0; begin < points.size(); begin = end) {
        for (end = begin; end < points.size() && place(begin).same_but_depth(place(end));) ++end;
        const std::size_t deep = end - 1;
        std::size_t shallow = begin;
        while (points[shallow].body != points[deep].body) ++shallow;
        const MeasurementShape& shape = points[deep].shape;
        if (points[shallow].shape.depth < shape.depth)
            out.push_back(
                {shape.warps() * shape.chains,
                 log_step(points[deep], once[deep]) - log_step(points[shallow], once[shallow])});
    }
    std::ranges::stable_sort(out, {}, &Growth::in_flight);
    return out;
}

// Neighbours are slowed alike, scatter is each place's own.
double scatter(const std::vector<Growth>& sorted) {
    std::vector<double> steps;
    for (std::size_t i = 1; i < sorted.size(); ++i)
        steps.push_back(std::abs(sorted[i].log - sorted[i - 1].log));
    return normal_mad * median(std::move(steps)) / std::sqrt(2.0);
}

}  // namespace

double disproportion(const Curve& curve, std::span<const double> once) {
    constexpr std::size_t together = 5;
    constexpr double clear = 5;  // standard errors
    constexpr double least = 0.005;
    const std::vector<Growth> sorted = growths(curve, once);
    if (sorted.size() < 2 * together) return 0;
    double most = 0;
    for (std::size_t at = 0; at + together <= sorted.size(); ++at) {
        std::vector<double> here;
        for (std::size_t i = at; i < at + together; ++i) here.push_back(sorted[i].log);
        most = std::max(most, median(std::move(here)));
    }
    const double error = scatter(sorted) * std::sqrt(median_variance(together));
    const bool shows = most > least && most > clear * error;
    return shows ? std::expm1(most) : 0;
}

}  // namespace occupipe
