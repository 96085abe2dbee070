// SPDX-License-Identifier: MIT
#include "bench/harness/stopping.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace occupipe::bench {

std::optional<double> relative_standard_error(std::span<const double> values) {
    const auto n = static_cast<double>(values.size());
    if (values.size() < 2) return std::nullopt;
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
    if (mean == 0) return std::nullopt;
    double squares = 0;
    for (const double value : values) squares += (value - mean) * (value - mean);
    return std::sqrt(squares / (n - 1) / n) / std::abs(mean);
}

bool target_met(const StoppingRule& rule, std::span<const double> values) {
    const auto error = relative_standard_error(values);
    return error && *error <= rule.relative_error;
}

bool repeat(const StoppingRule& rule, std::span<const double> values, double seconds) {
    const auto done = static_cast<int>(values.size());
    if (done < rule.least && done < rule.most) return true;
    return done < rule.most && seconds < rule.seconds && !target_met(rule, values);
}

bool TimeBudget::allows_more(double elapsed) const {
    if (!seconds_ || repetitions_ == 0) return true;
    const double one = spent_ / static_cast<double>(repetitions_);
    return elapsed + one * least_ * static_cast<double>(points_left_) < *seconds_;
}

double quantile(std::span<const double> values, double q) {
    std::vector<double> sorted(values.begin(), values.end());
    std::ranges::sort(sorted);
    const double position = q * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

}  // namespace occupipe::bench
