// SPDX-License-Identifier: MIT
#include "fit/solver/least_squares.h"

#include <gtest/gtest.h>

#include <cmath>

namespace occupipe {
namespace {

// y = a + b·x.
LeastSquaresProblem line(const std::vector<double>& x, const std::vector<double>& y) {
    LeastSquaresProblem p;
    p.residual_count = x.size();
    p.start = {0, 0};
    p.residual = [x, y](std::size_t i, std::span<const double> q, double& r,
                        std::span<double> gradient) {
        r = q[0] + q[1] * x[i] - y[i];
        if (!gradient.empty()) {
            gradient[0] = 1;
            gradient[1] = x[i];
        }
        return true;
    };
    return p;
}

TEST(LeastSquares, StraightLineAndItsCovarianceAreTheTextbooks) {
    const LeastSquaresSummary s = solve(line({0, 1, 2, 3}, {1, 3, 5, 7}));
    ASSERT_TRUE(s.converged) << s.message;
    EXPECT_NEAR(s.parameters[0], 1, 1e-10);
    EXPECT_NEAR(s.parameters[1], 2, 1e-10);
    ASSERT_TRUE(s.covariance);
    // (JᵀJ) = [4 6; 6 14], inverse [0.7 -0.3; -0.3 0.2].
    EXPECT_NEAR((*s.covariance)[0], 0.7, 1e-9);
    EXPECT_NEAR((*s.covariance)[1], -0.3, 1e-9);
    EXPECT_NEAR((*s.covariance)[3], 0.2, 1e-9);
}

TEST(LeastSquares, SingularProblemHasNoCovariance) {
    const LeastSquaresSummary s = solve(line({2, 2, 2}, {1, 1, 1}));
    EXPECT_TRUE(s.converged) << s.message;
    EXPECT_FALSE(s.covariance);
}

TEST(LeastSquares, FixedParameterStaysAndHasNoVariance) {
    LeastSquaresProblem p = line({0, 1, 2, 3}, {1, 3, 5, 7});
    p.start = {1.5, 0};
    p.fixed = {true, false};
    const LeastSquaresSummary s = solve(p);
    ASSERT_TRUE(s.converged);
    EXPECT_EQ(s.parameters[0], 1.5);
    EXPECT_NEAR(s.parameters[1], (1.5 + 7 + 16.5) / 14, 1e-7);  // Σx(y−1.5)/Σx²
    ASSERT_TRUE(s.covariance);
    EXPECT_EQ((*s.covariance)[0], 0);
    EXPECT_NEAR((*s.covariance)[3], 1.0 / 14, 1e-12);
}

TEST(LeastSquares, BoundsHold) {
    LeastSquaresProblem p = line({0, 1, 2, 3}, {1, 3, 5, 7});
    p.lower = {std::nullopt, std::nullopt};
    p.upper = {std::nullopt, 1.0};
    const LeastSquaresSummary s = solve(p);
    ASSERT_TRUE(s.converged);
    EXPECT_LE(s.parameters[1], 1.0 + 1e-12);
    EXPECT_NEAR(s.parameters[1], 1.0, 1e-9);
}

TEST(LeastSquares, HuberLossForgivesOneWildPoint) {
    std::vector<double> x, y;
    for (int i = 0; i < 20; ++i) {
        x.push_back(i);
        y.push_back(1 + 2 * i);
    }
    y[7] = 1000;
    LeastSquaresProblem p = line(x, y);
    p.huber = 0.1;
    const LeastSquaresSummary s = solve(p);
    ASSERT_TRUE(s.converged);
    EXPECT_NEAR(s.parameters[1], 2, 0.01);
    EXPECT_GT(std::abs(s.residuals[7]), 900);
}

TEST(LeastSquares, FewerPointsThanParametersIsDataNotAnException) {
    const LeastSquaresSummary s = solve(line({1}, {1}));
    EXPECT_FALSE(s.converged);
    EXPECT_FALSE(s.message.empty());
}

TEST(LeastSquares, ModelUndefinedAtTheStartIsDataNotAnException) {
    LeastSquaresProblem p;
    p.residual_count = 3;
    p.start = {-1};
    p.residual = [](std::size_t, std::span<const double> q, double& r, std::span<double> gradient) {
        if (q[0] <= 0) return false;
        r = std::log(q[0]);
        if (!gradient.empty()) gradient[0] = 1 / q[0];
        return true;
    };
    EXPECT_FALSE(solve(p).converged);
}

}  // namespace
}  // namespace occupipe
