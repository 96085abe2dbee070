// SPDX-License-Identifier: MIT
// The statistics behind the fitter's claims; pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace occupipe {

// Factor that makes ±1.96·(factor·σ̂) a 95 % interval when σ̂ rests on few degrees of freedom, at
// least 1.
double interval_factor(double freedom);

// Huber's estimate of what multiplies (JᵀJ)⁻¹ for the covariance of an M-estimate:
// K²·[Σψ²/(n−p)]/[mean ψ']², K = 1 + (p/n)·(1−m)/m with m the share of points not clipped
// (P. J. Huber, "Robust Statistics", 1981, section 7.6). ψ clips at ±clip. Absent when n <= p.
std::optional<double> huber_variance(std::span<const double> residuals, double clip,
                                     std::size_t parameters);

// Wald-Wolfowitz runs test on the signs of residuals in a meaningful order: how many standard
// deviations the number of runs lies above what independence gives; clearly negative = neighbours
// share their sign = structure. Absent when one sign has fewer than 5 members.
std::optional<double> runs_z(std::span<const double> residuals);

// Akaike's information criterion, corrected for small samples (Hurvich and Tsai, 1989), from twice
// the negative log likelihood. Absent when n is too small for that many parameters.
std::optional<double> aicc(double minus_two_log_likelihood, std::size_t parameters,
                           std::size_t points);

}  // namespace occupipe
