// SPDX-License-Identifier: MIT
#include "analysis/tuning/scores.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

namespace occupipe::analysis {
namespace {

TEST(Scores, AreThoseOfAHandCalculation) {
    // Predicted twice too long but for the last, which is right.
    const std::vector<ScoredTime> times = {{.measured = 1, .predicted = 2},
                                           {.measured = 2, .predicted = 4},
                                           {.measured = 4, .predicted = 8},
                                           {.measured = 8, .predicted = 8}};
    const Scores of = scores(times);
    EXPECT_EQ(of.count, 4U);
    EXPECT_DOUBLE_EQ(of.mape, 0.75);
    EXPECT_DOUBLE_EQ(of.factor, std::pow(2, 0.75));
    EXPECT_DOUBLE_EQ(of.spread, 8);
    const double over = 2 / std::pow(2, 0.75) - 1, under = 1 - 1 / std::pow(2, 0.75);
    EXPECT_NEAR(of.shape, (3 * over + under) / 4, 1e-12);
    // Ranks 1 2 3 4 and 1 2 3.5 3.5.
    EXPECT_NEAR(of.spearman.value(), 4.5 / std::sqrt(5 * 4.5), 1e-12);
    EXPECT_DOUBLE_EQ(of.regret, 1);
    EXPECT_DOUBLE_EQ(of.at_random, 3.75);
    EXPECT_FALSE(of.coverage);
}

TEST(Scores, RegretIsWhatTheChosenTakesLonger) {
    std::vector<ScoredTime> times;
    for (int i = 0; i < 200; ++i)
        times.push_back(
            {.measured = 100.0 + i, .predicted = static_cast<double>(i < 3 ? 3 - i : i)});
    // The predicted best is the third measured one, the best two hundredths hold the second.
    const Scores of = scores(times);
    EXPECT_DOUBLE_EQ(of.regret, 1.02);
    EXPECT_DOUBLE_EQ(of.regret_hundredth, 1.01);
    EXPECT_DOUBLE_EQ(of.regret_ten, 1);
}

// Equal predictions do not say which is better, whatever the order of the rows.
TEST(Scores, TiesCountAgainstThePrediction) {
    std::vector<ScoredTime> times = {{.measured = 2, .predicted = 1},
                                     {.measured = 8, .predicted = 1},
                                     {.measured = 4, .predicted = 3}};
    EXPECT_DOUBLE_EQ(scores(times).regret, 4);
    std::swap(times[0], times[1]);
    EXPECT_DOUBLE_EQ(scores(times).regret, 4);
    EXPECT_DOUBLE_EQ(scores(times).regret_ten, 1);
}

TEST(Scores, ConstantPredictionsHaveNoRank) {
    const std::vector<ScoredTime> same = {{.measured = 1, .predicted = 2},
                                          {.measured = 2, .predicted = 2}};
    EXPECT_FALSE(scores(same).spearman);
    const std::vector<ScoredTime> one = {{.measured = 1, .predicted = 2}};
    EXPECT_FALSE(scores(one).spearman);
    EXPECT_DOUBLE_EQ(scores(one).mape, 1);
}

TEST(Scores, CoverageCountsIntervalsAlone) {
    const std::vector<ScoredTime> times = {{.measured = 1, .predicted = 2, .low = 1, .high = 3},
                                           {.measured = 5, .predicted = 2, .low = 1, .high = 3},
                                           {.measured = 5, .predicted = 2}};
    EXPECT_DOUBLE_EQ(scores(times).coverage.value(), 0.5);
    EXPECT_DOUBLE_EQ(scores(times).half_width.value(), 0.5);
}

}  // namespace
}  // namespace occupipe::analysis
