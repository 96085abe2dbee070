// SPDX-License-Identifier: MIT
// Which of several numbers does not belong to the others.
//
//   find_outliers({10.1, 9.9, 10, 10.2, 12}, {}, 0.05)   → {4}, far beyond the spread of the rest
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace occupipe::analysis {

// λ_i of Rosner's test: what the largest of the distances to the mean, in standard deviations of
// `left` values, exceeds with about the probability `level` where all are of one normal
// distribution.
double rosner_critical(std::size_t left, double level);

struct Outlier {
    std::size_t index = 0;
    double distance = 0;  // to the mean of those that were left, in their standard deviations
    double critical = 0;  // beyond which it is an outlier
};

// Rosner's generalised extreme studentised deviate test (B. Rosner, "Percentage points for a
// generalized ESD many-outlier procedure", Technometrics 25, 1983), which finds several outliers
// that hide one another: up to one less than half of the values. `errors`: standard errors of the
// values, one each, absent where not known; none: nothing is known. A value is not called an
// outlier for what its error, or the others', can explain: the standard deviation that divides is
// at least the root mean square of the errors, and larger where its own error is. `level`: the
// probability that any of several normal values is called one. Fewer than 4 values: none is.
std::vector<Outlier> find_outliers(std::span<const double> values,
                                   std::span<const std::optional<double>> errors, double level);

}  // namespace occupipe::analysis
