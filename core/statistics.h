// SPDX-License-Identifier: MIT
// Medians, the spread about them, and Student's distribution; pure functions.
#pragma once

#include <span>
#include <vector>

namespace occupipe {

double median_of_sorted(std::span<const double> ascending);  // not empty
// Of an even number of values the mean of the two in the middle.
double median(std::vector<double> values);  // not empty

// Times the median absolute deviation: the standard deviation of normal values.
inline constexpr double normal_mad = 1.4826;

// The standard deviation of normal values by the median of their distances to `centre`.
double spread_about(double centre, std::vector<double> values);  // not empty

// The share of Student's distribution with `freedom` (at least 1) degrees of freedom above `t`.
double student_tail(double t, double freedom);

// The t with the share `tail` (above 0, at most 0.5) above it. Both are exact to about ten digits,
// far out as well; from ten million degrees of freedom on they are the normal distribution's.
double student_critical(double tail, double freedom);

}  // namespace occupipe
