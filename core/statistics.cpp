// SPDX-License-Identifier: MIT
#include "core/statistics.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace occupipe {
namespace {

constexpr double as_normal = 1e7;  // degrees of freedom

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

// Γ(a + 1/2) / (Γ(a)·√π): without the difference of two large logarithms.
double gamma_ratio(double a) {
    constexpr double large = 100;
    const double pi_root = std::sqrt(std::numbers::pi);
    if (a < large) return std::exp(std::lgamma(a + 0.5) - std::lgamma(a)) / pi_root;
    const double b = 1 / a;
    return std::sqrt(a) *
           (1 + b * (-1.0 / 8 + b * (1.0 / 128 + b * (5.0 / 1024 - b * 21.0 / 32768)))) / pi_root;
}

double student_density(double t, double freedom) {
    if (freedom > as_normal) return std::exp(-t * t / 2) / std::sqrt(2 * std::numbers::pi);
    return gamma_ratio(freedom / 2) / std::sqrt(freedom) *
           std::exp(-(freedom + 1) / 2 * std::log1p(t * t / freedom));
}

}  // namespace

double median_of_sorted(std::span<const double> ascending) {
    const std::size_t n = ascending.size();
    return n % 2 == 1 ? ascending[n / 2] : 0.5 * (ascending[n / 2 - 1] + ascending[n / 2]);
}

double median(std::vector<double> values) {
    std::ranges::sort(values);
    return median_of_sorted(values);
}

double spread_about(double centre, std::vector<double> values) {
    for (double& value : values) value = std::abs(value - centre);
    return normal_mad * median(std::move(values));
}

// Abramowitz and Stegun 26.7.1: I_x(freedom/2, 1/2) / 2 with x = freedom / (freedom + t²).
double student_tail(double t, double freedom) {
    if (t < 0) return 1 - student_tail(-t, freedom);
    if (freedom > as_normal) return std::erfc(t / std::numbers::sqrt2) / 2;
    const double a = freedom / 2;
    const double x = freedom / (freedom + t * t);
    const double y = t * t / (freedom + t * t);  // 1 − x, exact where that is small
    if (y == 0) return 0.5;
    if (x == 0) return 0;
    const double front =
        gamma_ratio(a) * std::exp(-a * std::log1p(t * t / freedom) + 0.5 * std::log(y));
    return x < (a + 1) / (a + 2.5) ? front * beta_fraction(x, a, 0.5) / a / 2
                                   : 0.5 - front * beta_fraction(y, 0.5, a);
}

// Newton's method from 0: right of it the tail is convex and falls, so that no step goes too far.
double student_critical(double tail, double freedom) {
    double t = 0;
    for (int i = 0; i < 1000; ++i) {
        const double above = student_tail(t, freedom) - tail;
        const double step = above / student_density(t, freedom);
        if (!(step > 1e-14 * t)) break;
        t += step;
    }
    return t;
}

}  // namespace occupipe
