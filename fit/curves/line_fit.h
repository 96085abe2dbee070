// SPDX-License-Identifier: MIT
// Straight lines and lines with one bend, weighted and robust: for costs that grow with a count
// (launches, groups, loop iterations, the warps of a barrier, ways of a bank conflict).
//
//     y = a + b·x                                         a line
//     y = a + b·x + c·max(0, x − x₀)                      bent at x₀
//
// The bend is the broken-line regression of V. M. R. Muggeo, "Estimating regression models with
// unknown break-points" (2003). It enters only when it improves the quasi-AICc by 4, as terms of
// the hull do (docs/background/fitting.md).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/estimate.h"

namespace occupipe {

struct LinePoint {
    double x = 0;
    double y = 0;
    double error = 0;  // standard error of y; positive
};

struct LineFit {
    std::string reason;  // why there is no result; empty when there is

    // Their signs are free, unlike those of a profile's quantities.
    Estimate intercept;
    Estimate slope;  // below the bend, if any
    struct Bend {
        Estimate at;     // x₀
        Estimate slope;  // above it
    };
    std::optional<Bend> bend;
    std::vector<double> predicted;  // by point
    double residual_scale = 0;      // root mean square, in standard errors of the points
    double mean_relative_error = 0;

    bool ok() const { return reason.empty(); }
};

struct LineOptions {
    bool allow_bend = true;
    // Errors that come from repetitions promise a scatter; the residuals can only widen it. When
    // false they are weights, and the residuals alone tell the scatter.
    bool errors_known = true;
};

// At least three different x are needed, for a bend five.
LineFit fit_line(std::span<const LinePoint> points, const LineOptions& options = {});

}  // namespace occupipe
