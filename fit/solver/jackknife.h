// SPDX-License-Identifier: MIT
// Standard errors that know structure: residuals of one shape share what is wrong with the shape.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "fit/solver/least_squares.h"

namespace occupipe {

// Standard errors of the free parameters from leaving out one cluster of residuals after the other,
// in the solver's own scale; 0 for fixed parameters. Each time the rest is refitted by one Newton
// step on Huber's loss, which makes this the cluster-robust covariance CR3 at the
// same time (R. M. Bell and D. F. McCaffrey, "Bias reduction in standard errors for linear
// regression with multi-stage samples", 2002). A parameter that few clusters determine has few
// degrees of freedom (Satterthwaite's, there as well), and Student's factor widens its error.
// `cluster` by residual, 0 … n−1; residuals beyond
// `clip` count as the Huber loss has them. Absent when fewer clusters than free parameters plus
// two.
std::optional<std::vector<double>> jackknife_errors(const LeastSquaresSummary& fit,
                                                    std::span<const std::size_t> cluster,
                                                    double clip);

}  // namespace occupipe
