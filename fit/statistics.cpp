// SPDX-License-Identifier: MIT
#include "fit/statistics.h"

#include <algorithm>
#include <cmath>

#include "core/statistics.h"

namespace occupipe {
double interval_factor(double freedom) {
    constexpr double of_normal = 1.959963984540054;
    return student_critical(0.025, freedom) / of_normal;
}

std::optional<double> huber_variance(std::span<const double> residuals, double clip,
                                     std::size_t parameters) {
    const std::size_t n = residuals.size();
    if (n <= parameters) return std::nullopt;
    double sum = 0;
    std::size_t unclipped = 0;
    for (const double r : residuals) {
        const double psi = std::clamp(r, -clip, clip);
        sum += psi * psi;
        if (std::abs(r) <= clip) ++unclipped;
    }
    if (unclipped == 0) return std::nullopt;
    const double m = static_cast<double>(unclipped) / static_cast<double>(n);
    const double p_over_n = static_cast<double>(parameters) / static_cast<double>(n);
    const double k = 1 + p_over_n * (1 - m) / m;
    return k * k * sum / static_cast<double>(n - parameters) / (m * m);
}

std::optional<double> runs_z(std::span<const double> residuals) {
    double above = 0;
    double below = 0;
    double runs = 0;
    int last = 0;
    for (const double r : residuals) {
        const int sign = r > 0 ? 1 : -1;
        (sign > 0 ? above : below) += 1;
        if (sign != last) ++runs;
        last = sign;
    }
    if (above < 5 || below < 5) return std::nullopt;
    const double n = above + below;
    const double mean = 2 * above * below / n + 1;
    const double variance = (mean - 1) * (mean - 2) / (n - 1);
    return (runs - mean) / std::sqrt(variance);
}

std::optional<double> aicc(double minus_two_log_likelihood, std::size_t parameters,
                           std::size_t points) {
    if (points < parameters + 2) return std::nullopt;
    const double k = static_cast<double>(parameters);
    const double n = static_cast<double>(points);
    return minus_two_log_likelihood + 2 * k + 2 * k * (k + 1) / (n - k - 1);
}

}  // namespace occupipe
