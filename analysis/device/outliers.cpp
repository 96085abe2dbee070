// SPDX-License-Identifier: MIT
#include "analysis/device/outliers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/statistics.h"

namespace occupipe::analysis {
namespace {

struct Moments {
    double mean = 0, deviation = 0;
};

Moments moments_of(std::span<const double> values, const std::vector<std::size_t>& left) {
    Moments m;
    const auto n = static_cast<double>(left.size());
    for (const std::size_t i : left) m.mean += values[i] / n;
    for (const std::size_t i : left)
        m.deviation += (values[i] - m.mean) * (values[i] - m.mean) / (n - 1);
    m.deviation = std::sqrt(m.deviation);
    return m;
}

}  // namespace

double rosner_critical(std::size_t left, double level) {
    const auto n = static_cast<double>(left);
    const double t = student_critical(level / (2 * n), n - 2);
    return (n - 1) * t / std::sqrt((n - 2 + t * t) * n);
}

std::vector<Outlier> find_outliers(std::span<const double> values,
                                   std::span<const std::optional<double>> errors, double level) {
    if (values.size() < 4) return {};
    std::vector<std::size_t> left(values.size());
    std::iota(left.begin(), left.end(), std::size_t{0});
    std::vector<Outlier> removed;
    std::size_t found = 0;
    const std::size_t most = (values.size() - 1) / 2;
    while (removed.size() < most && left.size() >= 4) {
        const Moments m = moments_of(values, left);
        const auto square = [&](std::size_t i) {
            return i < errors.size() && errors[i] ? *errors[i] * *errors[i] : 0.0;
        };
        double mean_square = 0;
        for (const std::size_t i : left)
            mean_square += square(i) / static_cast<double>(left.size());
        const double variance = std::max(m.deviation * m.deviation, mean_square);
        Outlier worst{.index = left.front(), .distance = -1};
        for (const std::size_t i : left) {
            const double away = std::abs(values[i] - m.mean);
            const double scale = std::sqrt(variance + std::max(0.0, square(i) - mean_square));
            const double distance = away == 0 ? 0 : away / scale;
            if (distance > worst.distance) worst = {.index = i, .distance = distance};
        }
        worst.critical = rosner_critical(left.size(), level);
        removed.push_back(worst);
        if (worst.distance > worst.critical) found = removed.size();
        std::erase(left, worst.index);
    }
    removed.resize(found);
    return removed;
}

}  // namespace occupipe::analysis
