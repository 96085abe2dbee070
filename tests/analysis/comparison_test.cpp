// SPDX-License-Identifier: MIT
#include "analysis/measured/comparison.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace occupipe::analysis {
namespace {

// Four points of 100 cycles; a predictor is off by a factor at each, or silent (0).
std::vector<Accuracy> ranked(const std::vector<std::pair<std::string, std::vector<double>>>& by) {
    std::vector<MeasuredPoint> points;
    for (int w = 1; w <= 4; ++w)
        points.push_back({.subject = "fma.f32", .shape = {.group_warps = w}, .cycles = 100});
    std::vector<Predictor> predictors;
    for (const auto& [name, factors] : by) {
        predictors.push_back({name, {}});
        for (const double f : factors)
            predictors.back().cycles.push_back(f > 0 ? std::optional(100 * f) : std::nullopt);
    }
    std::vector<Accuracy> rows = accuracies(points, predictors);
    std::erase_if(rows, [](const Accuracy& row) { return row.subject != everything; });
    return rows;
}

// One that predicted half of the points stood before one with all.
TEST(Comparison, ModelsThatPredictMorePointsStandFirst) {
    const auto rows = ranked({{"half", {1, 1, 0, 0}},
                              {"far", {2, 2, 2, 2}},
                              {"near", {1.25, 1.25, 1.25, 1.25}},
                              {"most", {1, 1, 1, 0}},
                              {"none", {0, 0, 0, 0}}});
    ASSERT_EQ(rows.size(), 4U);
    const char* order[] = {"near", "far", "most", "half"};
    for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_EQ(rows[i].predictor, order[i]);
        EXPECT_EQ(rows[i].rank, static_cast<int>(i) + 1);
        EXPECT_EQ(rows[i].of_points, 4);
        EXPECT_EQ(rows[i].common_points, 2);
    }
    EXPECT_EQ(rows[2].points, 3);
    EXPECT_NEAR(*rows[0].common_mape, 20, 1e-9);
    EXPECT_NEAR(*rows[1].common_mape, 50, 1e-9);
    EXPECT_NEAR(*rows[3].common_mape, 0, 1e-9);
}

TEST(Comparison, EqualOnesShareARankAndNothingInCommonHasNoMape) {
    const auto equal = ranked({{"a", {2, 2, 2, 2}}, {"b", {2, 2, 2, 2}}, {"c", {2, 2, 2, 0}}});
    EXPECT_EQ(equal[0].rank, 1);
    EXPECT_EQ(equal[1].rank, 1);
    EXPECT_EQ(equal[2].rank, 3);
    const auto apart = ranked({{"a", {1, 0, 0, 0}}, {"b", {0, 1, 0, 0}}});
    EXPECT_EQ(apart[0].rank, apart[1].rank);
    EXPECT_EQ(apart[0].common_points, 0);
    EXPECT_FALSE(apart[0].common_mape);
}

}  // namespace
}  // namespace occupipe::analysis
