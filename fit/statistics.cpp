// SPDX-License-Identifier: MIT
#include "fit/statistics.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace occupipe {
namespace {

// Standard normal quantile: P. J. Acklam's rational approximation (relative error 1.2e-9), upper
// half only.
double normal_quantile(double p) {
    constexpr double split = 0.97575;
    if (p <= split) {
        const double q = p - 0.5;
        const double r = q * q;
        return (((((-3.969683028665376e+01 * r + 2.209460984245205e+02) * r -
                   2.759285104469687e+02) *
                      r +
                  1.383577518672690e+02) *
                     r -
                 3.066479806614716e+01) *
                    r +
                2.506628277459239e+00) *
               q /
               (((((-5.447609879822406e+01 * r + 1.615858368580409e+02) * r -
                   1.556989798598866e+02) *
                      r +
                  6.680131188771972e+01) *
                     r -
                 1.328068155288572e+01) *
                    r +
                1);
    }
    const double q = std::sqrt(-2 * std::log(1 - p));
    return -(((((-7.784894002430293e-03 * q - 3.223964580411365e-01) * q - 2.400758277161838e+00) *
                   q -
               2.549732539343734e+00) *
                  q +
              4.374664141464968e+00) *
                 q +
             2.938163982698783e+00) /
           ((((7.784695709041462e-03 * q + 3.224671290700398e-01) * q + 2.445134137142996e+00) * q +
             3.754408661907416e+00) *
                q +
            1);
}

}  // namespace

// Exact for one and two degrees of freedom; else the Cornish-Fisher expansion (Abramowitz and
// Stegun 26.7.5), better than 1 % from three degrees on at the levels used here.
double student_quantile(double p, double freedom) {
    if (freedom <= 1) return std::tan(std::numbers::pi * (p - 0.5));
    if (freedom <= 2) {
        const double a = 4 * p * (1 - p);
        return 2 * (p - 0.5) * std::sqrt(2 / a);
    }
    const double z = normal_quantile(p);
    const double z2 = z * z;
    const double g1 = z * (z2 + 1) / 4;
    const double g2 = z * ((5 * z2 + 16) * z2 + 3) / 96;
    const double g3 = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
    const double g4 = z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160;
    return z + (g1 + (g2 + (g3 + g4 / freedom) / freedom) / freedom) / freedom;
}

double interval_factor(double freedom) {
    return student_quantile(0.975, freedom) / student_quantile(0.975, 1e9);
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
