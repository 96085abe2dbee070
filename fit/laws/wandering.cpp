// SPDX-License-Identifier: MIT
#include "fit/laws/wandering.h"

#include <algorithm>
#include <cmath>

namespace occupipe {
namespace {

struct Covariance {
    double value = 0;
    double pairs = 0;
};

// Mean product of residuals `lag` apart, of different sources.
Covariance covariance_at(const std::vector<TimedResidual>& all, double mean, std::size_t lag) {
    Covariance out;
    for (std::size_t i = lag; i < all.size(); ++i) {
        if (all[i].source == all[i - lag].source) continue;
        out.value += (all[i].away - mean) * (all[i - lag].away - mean);
        ++out.pairs;
    }
    if (out.pairs > 0) out.value /= out.pairs;
    return out;
}

}  // namespace

double wandering_height(std::vector<TimedResidual> residuals) {
    constexpr std::size_t fewest = 24;
    constexpr double clear = 4;  // standard errors of the correlation
    constexpr double smallest = 2e-3;
    if (residuals.size() < fewest) return 0;
    std::ranges::stable_sort(residuals, {}, &TimedResidual::when);
    if (residuals.front().when == residuals.back().when) return 0;
    const auto n = static_cast<double>(residuals.size());
    double mean = 0;
    for (const TimedResidual& r : residuals) mean += r.away / n;
    double variance = 0;
    for (const TimedResidual& r : residuals) variance += (r.away - mean) * (r.away - mean) / n;
    const Covariance first = covariance_at(residuals, mean, 1);
    if (!(variance > 0) || first.value / variance * std::sqrt(first.pairs) < clear) return 0;
    const Covariance second = covariance_at(residuals, mean, 2);
    const double of_drift = 2 * first.value - second.value;
    const double most = std::max(first.value, variance);
    const double height = std::sqrt(12 * std::clamp(of_drift, first.value, most));
    return height < smallest ? 0 : height;
}

}  // namespace occupipe
