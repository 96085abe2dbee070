// SPDX-License-Identifier: MIT
#include "analysis/measured/accuracy.h"

#include <cmath>
#include <set>

namespace occupipe::analysis {
namespace {

struct Line {
    double offset = 0;
    double slope = 0;
};

Line error_line(std::span<const AccuracyPoint> curve) {
    const auto n = static_cast<double>(curve.size());
    double mean_x = 0;
    double mean_y = 0;
    for (const AccuracyPoint& point : curve) {
        mean_x += point.warps / n;
        mean_y += (point.predicted - point.real) / n;
    }
    double xx = 0;
    double xy = 0;
    for (const AccuracyPoint& point : curve) {
        xx += (point.warps - mean_x) * (point.warps - mean_x);
        xy += (point.warps - mean_x) * (point.predicted - point.real - mean_y);
    }
    return {mean_y - xy / xx * mean_x, xy / xx};
}

}  // namespace

std::optional<double> mape(std::span<const AccuracyPoint> curve) {
    if (curve.empty()) return std::nullopt;
    double sum = 0;
    for (const AccuracyPoint& point : curve)
        sum += std::abs(point.predicted - point.real) / point.real;
    return 100 * sum / static_cast<double>(curve.size());
}

std::optional<double> mape_shape(std::span<const AccuracyPoint> curve) {
    std::set<double> occupancies;
    for (const AccuracyPoint& point : curve) occupancies.insert(point.warps);
    if (occupancies.size() < 3) return std::nullopt;
    const Line line = error_line(curve);
    double sum = 0;
    for (const AccuracyPoint& point : curve) {
        const double error = point.predicted - point.real;
        sum += std::abs(error - line.offset - line.slope * point.warps) / point.real;
    }
    return 100 * sum / static_cast<double>(curve.size());
}

}  // namespace occupipe::analysis
