// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fit/curves/curve.h"
#include "fit/solver/least_squares.h"

namespace occupipe {

struct BootstrapOptions {
    int samples = 200;
    std::uint64_t seed = 1;  // results must repeat
};

// Standard errors of the free parameters from resampling each point's repetitions (with
// replacement, medians recomputed), in the solver's own scale; 0 for fixed parameters. Each sample
// is refitted by one Gauss-Newton step from the solution (the one-step bootstrap: A. C. Davison and
// D. V. Hinkley, "Bootstrap methods and their application", 1997, section 7.2), residuals clipped
// at `clip`. Absent when some point has fewer than three repetitions or the fit has no covariance.
std::optional<std::vector<double>> bootstrap_errors(const Curve& curve,
                                                    const LeastSquaresSummary& fit, double clip,
                                                    const BootstrapOptions& options = {});

}  // namespace occupipe
