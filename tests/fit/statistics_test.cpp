// SPDX-License-Identifier: MIT
#include "fit/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace occupipe {
namespace {

TEST(FitStatistics, IntervalsOfFewDegreesOfFreedomAreWider) {
    EXPECT_NEAR(interval_factor(1e9), 1, 1e-9);
    EXPECT_NEAR(interval_factor(1), 12.7062 / 1.95996, 1e-4);
    EXPECT_NEAR(interval_factor(10), 2.22814 / 1.95996, 1e-5);
}

TEST(FitStatistics, HuberVarianceOfNormalResidualsIsThatOfTheirMean) {
    // For normal data and clip 1.345 an M-estimate of location has variance 1/0.95 of the mean's.
    std::mt19937_64 random(3);
    std::normal_distribution<double> normal;
    std::vector<double> r(200000);
    for (double& x : r) x = normal(random);
    const auto v = huber_variance(r, 1.345, 1);
    ASSERT_TRUE(v);
    EXPECT_NEAR(*v, 1 / 0.95, 0.02);
    EXPECT_FALSE(huber_variance(std::vector<double>{1.0, 2.0}, 1.345, 2));
}

TEST(FitStatistics, RunsTestSeesAWaveAndNotNoise) {
    std::vector<double> wave, noise;
    std::mt19937_64 random(4);
    std::normal_distribution<double> normal;
    for (int i = 0; i < 100; ++i) {
        wave.push_back(std::sin(i * 0.1));
        noise.push_back(normal(random));
    }
    ASSERT_TRUE(runs_z(wave));
    EXPECT_LT(*runs_z(wave), -5);
    ASSERT_TRUE(runs_z(noise));
    EXPECT_GT(*runs_z(noise), -3);
    EXPECT_FALSE(runs_z(std::vector<double>(100, 1.0)));
}

TEST(FitStatistics, CorrectedCriterionNeedsEnoughPoints) {
    EXPECT_FALSE(aicc(0, 3, 4));
    ASSERT_TRUE(aicc(10, 2, 10));
    EXPECT_NEAR(*aicc(10, 2, 10), 10 + 4 + 12.0 / 7, 1e-12);
}

}  // namespace
}  // namespace occupipe
