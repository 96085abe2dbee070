// SPDX-License-Identifier: MIT
// Standard errors against what repeated draws scatter by.
#include "fit/solver/jackknife.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace occupipe {
namespace {

// A location under Huber's loss, from clusters that share their error.
struct Draw {
    double location = 0;
    double error = 0;
};

Draw draw_location(std::mt19937_64& random, std::size_t clusters, std::size_t members,
                   double clip) {
    std::normal_distribution<double> normal;
    std::vector<double> values;
    std::vector<std::size_t> cluster;
    for (std::size_t g = 0; g < clusters; ++g) {
        const double common = normal(random);
        for (std::size_t i = 0; i < members; ++i) {
            values.push_back(common + 0.05 * normal(random));
            cluster.push_back(g);
        }
    }
    LeastSquaresProblem problem;
    problem.residual_count = values.size();
    problem.start = {0.0};
    problem.huber = clip;
    problem.residuals = each_by_itself([&values](std::size_t i, std::span<const double> q,
                                                 double& residual, std::span<double> gradient) {
        residual = q[0] - values[i];
        gradient[0] = 1;
        return true;
    });
    const LeastSquaresSummary fit = solve(problem);
    const auto errors = jackknife_errors(fit, cluster, clip);
    return {fit.parameters[0], errors ? (*errors)[0] : 0.0};
}

// A tight clip clips many: their weights counted as curvature, errors came out up to 40 % too
// small.
TEST(Jackknife, AClippedResidualDoesNotResist) {
    std::mt19937_64 random(1);
    constexpr int draws = 3000;
    for (const double clip : {0.6, 1.345, 4.0}) {
        double squares = 0;
        double promised = 0;
        for (int i = 0; i < draws; ++i) {
            const Draw one = draw_location(random, 38, 3, clip);
            squares += one.location * one.location / draws;
            promised += one.error * one.error / draws;
        }
        EXPECT_NEAR(std::sqrt(promised / squares), 1.0, 0.12) << clip;
    }
}

// Two standard errors mean the same where few clusters tell a parameter.
TEST(Jackknife, FewClustersWidenTheInterval) {
    std::mt19937_64 random(2);
    constexpr int draws = 1000;
    for (const std::size_t clusters : {4U, 8U, 38U}) {
        int within = 0;
        for (int i = 0; i < draws; ++i) {
            const Draw one = draw_location(random, clusters, 3, 4.0);
            within += std::abs(one.location) <= 1.96 * one.error;
        }
        EXPECT_NEAR(within / static_cast<double>(draws), 0.95, 0.025) << clusters;
    }
}

// Two parameters, one told by four clusters of forty: its interval is Student's with the freedom of
// four.
TEST(Jackknife, AParameterHasTheFreedomOfItsOwnClusters) {
    std::mt19937_64 random(3);
    std::normal_distribution<double> normal;
    constexpr int draws = 1000;
    constexpr std::size_t clusters = 40;
    constexpr std::size_t few = 4;
    int within = 0;
    for (int d = 0; d < draws; ++d) {
        std::vector<double> values;
        std::vector<std::size_t> cluster;
        for (std::size_t g = 0; g < clusters; ++g) {
            values.push_back(normal(random));
            cluster.push_back(g);
        }
        LeastSquaresProblem problem;
        problem.residual_count = clusters;
        problem.start = {0.0, 0.0};
        problem.residuals = each_by_itself([&values](std::size_t i, std::span<const double> q,
                                                     double& residual, std::span<double> gradient) {
            const std::size_t mine = i < few ? 0 : 1;
            residual = q[mine] - values[i];
            gradient[0] = gradient[1] = 0;
            gradient[mine] = 1;
            return true;
        });
        const LeastSquaresSummary fit = solve(problem);
        const auto errors = jackknife_errors(fit, cluster, 10);
        ASSERT_TRUE(errors);
        within += std::abs(fit.parameters[0]) <= 1.96 * (*errors)[0];
    }
    EXPECT_NEAR(within / static_cast<double>(draws), 0.95, 0.03);
}

}  // namespace
}  // namespace occupipe
