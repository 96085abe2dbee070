// SPDX-License-Identifier: MIT
// When a point has been repeated often enough.
#pragma once

#include <cstddef>
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

// The time that a whole run may take. Points are never left out; but one is repeated beyond the
// least number only while the points behind it would still fit.
class TimeBudget {
public:
    // seconds absent: no limit. points: that are still to be measured.
    TimeBudget(std::optional<double> seconds, std::size_t points, int least)
        : seconds_(seconds), points_left_(points), least_(least) {}

    void repetition_took(double seconds) {
        ++repetitions_;
        spent_ += seconds;
    }
    void point_done() { --points_left_; }
    // elapsed: seconds since the run began.
    bool allows_more(double elapsed) const;

private:
    std::optional<double> seconds_;
    std::size_t points_left_ = 0;
    int least_ = 0;
    std::size_t repetitions_ = 0;
    double spent_ = 0;  // in repetitions, with what they had to compile
};

// Linear between neighbours, as most statistics programs have it (R's type 7). `values` not empty;
// 0 <= q <= 1.
double quantile(std::span<const double> values, double q);

}  // namespace occupipe::bench
