// SPDX-License-Identifier: MIT
#include "analysis/device/outliers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace occupipe::analysis {
namespace {

// I_x(a, b) by the continued fraction of Abramowitz and Stegun 26.5.8, which converges quickly for
// x below (a + 1) / (a + b + 2); Lentz's method.
double beta_fraction(double x, double a, double b) {
    constexpr double tiny = 1e-300;
    double c = 1;
    double d = 1 - (a + b) * x / (a + 1);
    d = 1 / (std::abs(d) < tiny ? tiny : d);
    double value = d;
    for (int m = 1; m < 10'000; ++m) {
        const auto step = [&](double term) {
            d = 1 + term * d;
            d = 1 / (std::abs(d) < tiny ? tiny : d);
            c = 1 + term / c;
            if (std::abs(c) < tiny) c = tiny;
            value *= c * d;
            return c * d;
        };
        step(m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)));
        if (std::abs(step(-(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))) - 1) <
            1e-15)
            break;
    }
    return value;
}

double incomplete_beta(double x, double a, double b) {
    if (x <= 0) return 0;
    if (x >= 1) return 1;
    const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                  a * std::log(x) + b * std::log1p(-x));
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(x, a, b) / a
                                     : 1 - front * beta_fraction(1 - x, b, a) / b;
}

// Of Student's distribution above t >= 0; Abramowitz and Stegun 26.7.1.
double student_tail(double t, double freedom) {
    return incomplete_beta(freedom / (freedom + t * t), freedom / 2, 0.5) / 2;
}

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

double median_of(std::vector<double> values) {
    std::ranges::sort(values);
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double spread_of(const std::vector<double>& values) {
    const double centre = median_of(values);
    std::vector<double> distances;
    for (const double value : values) distances.push_back(std::abs(value - centre));
    return 1.4826 * median_of(std::move(distances));
}

double student_critical(double tail, double freedom) {
    double low = 0, high = 1;
    while (student_tail(high, freedom) > tail && high < 1e300) high *= 2;
    for (int i = 0; i < 200 && low < high; ++i) {
        const double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high) break;
        (student_tail(middle, freedom) > tail ? low : high) = middle;
    }
    return high;
}

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
