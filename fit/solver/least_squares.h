// SPDX-License-Identifier: MIT
// Non-linear least squares with a robust loss and bounds, and the covariance of the result: the
// only access to Ceres Solver. Numerical failure is data in the summary, never an exception.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace occupipe {

// All residuals at `parameters` and, unless `jacobian` is empty, their partial derivatives,
// row-major, one row for each; these are 0 before. Returns false where the model is not defined
// (the solver then takes a shorter step).
using ResidualsFunction = std::function<bool(
    std::span<const double> parameters, std::span<double> residuals, std::span<double> jacobian)>;

// The same for one of them, always with its derivatives.
using ResidualFunction = std::function<bool(std::size_t index, std::span<const double> parameters,
                                            double& residual, std::span<double> gradient)>;
ResidualsFunction each_by_itself(ResidualFunction residual);

struct LeastSquaresProblem {
    std::size_t residual_count = 0;
    ResidualsFunction residuals;
    std::vector<double> start;
    std::vector<bool> fixed;                   // empty = all parameters are free
    std::vector<std::optional<double>> lower;  // empty = none
    std::vector<std::optional<double>> upper;  // empty = none
    std::optional<double> huber;               // residuals beyond this count linearly
};

struct LeastSquaresOptions {
    int max_iterations = 200;
    double tolerance = 1e-14;  // of cost, gradient and step
    bool want_covariance = true;
    bool refine = false;  // Gauss-Newton steps for the last digits; without loss and bounds only
};

struct LeastSquaresSummary {
    bool converged = false;
    std::string message;
    int iterations = 0;
    double cost = 0;  // half the sum of the (robustified) squared residuals
    std::vector<double> parameters;
    std::vector<double> residuals;  // as the function gives them, before the loss
    std::vector<double> jacobian;   // row-major, residual_count x parameters; fixed columns are 0
    // (JᵀJ)⁻¹ of the plain residuals, row-major; zero rows for fixed parameters. Absent when JᵀJ
    // is singular: the data do not determine every free parameter.
    std::optional<std::vector<double>> covariance;
};

LeastSquaresSummary solve(const LeastSquaresProblem& problem,
                          const LeastSquaresOptions& options = {});

}  // namespace occupipe
