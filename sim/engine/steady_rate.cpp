// SPDX-License-Identifier: MIT
#include "sim/engine/steady_rate.h"

#include <algorithm>
#include <cmath>

namespace occupipe::sim {
namespace {

constexpr int batches = 8;
constexpr double settling = 0.25;  // of the work

}  // namespace

double time_at(std::span<const RunPoint> points, double work) {
    const auto after = std::ranges::lower_bound(points, work, {}, &RunPoint::work);
    if (after == points.end()) return points.back().time;
    const RunPoint before = after == points.begin() ? RunPoint{} : *(after - 1);
    if (after->work == before.work) return after->time;
    return before.time +
           (after->time - before.time) * (work - before.work) / (after->work - before.work);
}

std::optional<SteadyRate> steady_rate(std::span<const RunPoint> points, double least) {
    if (points.empty()) return std::nullopt;
    const double all = points.back().work;
    const double batch = (1 - settling) * all / batches;
    if (batch < least) return std::nullopt;
    const auto time_after = [&](int number) {
        return time_at(points, settling * all + number * batch);
    };
    const double mean = (time_after(batches) - time_after(0)) / (batches * batch);
    // Of the means of so many batches together.
    const auto standard_error = [&](int together) {
        double squares = 0;
        for (int b = 0; b < batches; b += together) {
            const double one = (time_after(b + together) - time_after(b)) / (together * batch);
            squares += (one - mean) * (one - mean);
        }
        const int count = batches / together;
        return std::sqrt(squares / (count * (count - 1)));
    };
    double start = 0, squares = 0;  // of the line, at the first batch
    for (int b = 0; b <= batches; ++b) start += (time_after(b) - b * batch * mean) / (batches + 1);
    for (int b = 0; b <= batches; ++b)
        squares += std::pow(time_after(b) - b * batch * mean - start, 2) / (batches + 1);
    return SteadyRate{.time_each = mean,
                      .standard_error = std::max(standard_error(1), standard_error(2)),
                      .time_at_end = start + batches * batch * mean,
                      .scatter = std::sqrt(squares)};
}

}  // namespace occupipe::sim
