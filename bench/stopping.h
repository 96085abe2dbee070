// SPDX-License-Identifier: MIT
// When a point has been repeated often enough.
#pragma once

#include <optional>
#include <span>

namespace occupipe::bench {

struct StoppingRule {
    int least = 5;                 // repetitions before the rest is asked
    int most = 15;                 // never more
    double relative_error = 0.01;  // of the mean, as a standard error: good enough
    double seconds = 5;            // of one point, launches and all: no repetition begins after it

    // The same number of repetitions whatever comes of them.
    static StoppingRule exactly(int repetitions) {
        StoppingRule rule;
        rule.least = rule.most = repetitions;
        return rule;
    }
};

// Standard error of the mean over the mean; absent for fewer than two values or a mean of zero.
std::optional<double> relative_standard_error(std::span<const double> values);

bool target_met(const StoppingRule& rule, std::span<const double> values);

// Whether another repetition is wanted after these, `seconds` into the point.
bool repeat(const StoppingRule& rule, std::span<const double> values, double seconds);

// Linear between neighbours, as most statistics programs have it (R's type 7). `values` not empty;
// 0 <= q <= 1.
double quantile(std::span<const double> values, double q);

}  // namespace occupipe::bench
