// SPDX-License-Identifier: MIT
#include "fit/solver/least_squares.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace occupipe {
namespace {

// y = a + b·x.
LeastSquaresProblem line(const std::vector<double>& x, const std::vector<double>& y) {
    LeastSquaresProblem p;
    p.residual_count = x.size();
    p.start = {0, 0};
    p.residuals = each_by_itself(
        [x, y](std::size_t i, std::span<const double> q, double& r, std::span<double> gradient) {
            r = q[0] + q[1] * x[i] - y[i];
            gradient[0] = 1;
            gradient[1] = x[i];
            return true;
        });
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

// Σ x_k·q_k against y, with bounds on two thirds of the parameters that may cut the minimum off.
LeastSquaresProblem plane_between_bounds(std::mt19937_64& random, std::size_t parameters) {
    std::normal_distribution<double> normal;
    constexpr std::size_t points = 20;
    std::vector<double> x(points * parameters);
    std::vector<double> y(points);
    for (double& v : x) v = normal(random);
    for (double& v : y) v = normal(random);
    LeastSquaresProblem p;
    p.residual_count = points;
    p.lower.resize(parameters);
    p.upper.resize(parameters);
    for (std::size_t k = 0; k < parameters; ++k) {
        p.start.push_back(normal(random));
        if (k % 3 == 1) p.lower[k] = 0.3 * normal(random);
        if (k % 3 == 2) p.upper[k] = 0.3 * normal(random);
    }
    p.residuals = each_by_itself([x, y, parameters](std::size_t i, std::span<const double> q,
                                                    double& r, std::span<double> gradient) {
        r = -y[i];
        for (std::size_t k = 0; k < parameters; ++k) {
            gradient[k] = x[i * parameters + k];
            r += gradient[k] * q[k];
        }
        return true;
    });
    return p;
}

// Inside the bounds the cost does not change with a parameter; at one it rises towards the inside.
void expect_minimum(const LeastSquaresProblem& p, const LeastSquaresSummary& s) {
    const std::size_t n = s.parameters.size();
    for (std::size_t k = 0; k < n; ++k) {
        double slope = 0;
        for (std::size_t i = 0; i < p.residual_count; ++i)
            slope += s.jacobian[i * n + k] * s.residuals[i];
        const double q = s.parameters[k];
        EXPECT_GE(q, p.lower[k].value_or(q));
        EXPECT_LE(q, p.upper[k].value_or(q));
        EXPECT_TRUE(slope <= 1e-6 || (p.lower[k] && q == *p.lower[k])) << k << ": " << slope;
        EXPECT_TRUE(slope >= -1e-6 || (p.upper[k] && q == *p.upper[k])) << k << ": " << slope;
    }
}

TEST(LeastSquares, BoundsThatCutTheMinimumOffAreReached) {
    std::mt19937_64 random(1);
    int at_bounds = 0;
    for (std::size_t i = 0; i < 200; ++i) {
        const LeastSquaresProblem p = plane_between_bounds(random, 2 + i % 6);
        const LeastSquaresSummary s = solve(p);
        ASSERT_TRUE(s.converged) << i << ": " << s.message;
        expect_minimum(p, s);
        for (std::size_t k = 0; k < p.start.size(); ++k) {
            const double q = s.parameters[k];
            at_bounds += p.lower[k] == q || p.upper[k] == q;
        }
    }
    EXPECT_GE(at_bounds, 100);
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
    p.residuals = each_by_itself(
        [](std::size_t, std::span<const double> q, double& r, std::span<double> gradient) {
            if (q[0] <= 0) return false;
            r = std::log(q[0]);
            gradient[0] = 1 / q[0];
            return true;
        });
    EXPECT_FALSE(solve(p).converged);
}

}  // namespace
}  // namespace occupipe
