// SPDX-License-Identifier: MIT
#include "fit/curves/step_time.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

namespace occupipe {
namespace {

Curve curve_of(const std::vector<std::pair<std::int64_t, double>>& depths_and_cycles) {
    Curve curve;
    for (const auto& [depth, cycles] : depths_and_cycles) {
        CurvePoint point;
        point.shape = {.group_warps = 2, .concurrent_groups = 1, .chains = 1, .depth = depth};
        point.cycles = cycles;
        point.log_error = 100 / cycles;  // equal weights: an error of 100 cycles each
        curve.points.push_back(point);
    }
    return curve;
}

TEST(StepTime, IsTheSlopeOverDepthAndKeepsInterceptAndFit) {
    const auto steps = step_times(curve_of({{1000, 4300}, {2000, 8300}, {4000, 16300}}));
    ASSERT_EQ(steps.size(), 1u);
    EXPECT_DOUBLE_EQ(steps[0].cycles.value, 4);
    EXPECT_NEAR(steps[0].intercept, 300, 1e-9);
    EXPECT_DOUBLE_EQ(steps[0].r_squared, 1);
    EXPECT_EQ(steps[0].depths, 3u);
    EXPECT_DOUBLE_EQ(steps[0].in_flight(), 2);
}

TEST(StepTime, OnePointOffTheLineLowersRSquaredAndWidensTheError) {
    // By hand, x = 1, 2, 3 and y = 2, 3, 7 (thousands): slope 5/2, intercept -1, residuals 1/2, -1,
    // 1/2, total sum of squares 14, so r² = 1 - 1.5/14; slope's error sqrt(1.5/(1·2)).
    const auto steps = step_times(curve_of({{1000, 2000}, {2000, 3000}, {3000, 7000}}));
    ASSERT_EQ(steps.size(), 1u);
    EXPECT_DOUBLE_EQ(steps[0].cycles.value, 2.5);
    EXPECT_NEAR(steps[0].intercept, -1000, 1e-9);
    EXPECT_NEAR(steps[0].r_squared, 1 - 1.5 / 14, 1e-12);
    EXPECT_NEAR(*steps[0].cycles.std_error, std::sqrt(0.75), 1e-12);
}

TEST(StepTime, CoresThatDifferAreNamedWithTheirOwnSlopes) {
    Curve curve = curve_of({{1000, 4300}, {2000, 8300}, {4000, 16300}});
    for (CurvePoint& point : curve.points) {
        point.least_core = 3.0 * static_cast<double>(point.shape.depth) + 200;
        point.greatest_core = 5.0 * static_cast<double>(point.shape.depth) + 400;
    }
    EXPECT_EQ(spread_over_cores(curve), "3 to 5 cycles per step over the cores, with 2 in flight");
    for (CurvePoint& point : curve.points) point.greatest_core = *point.least_core * 1.01;
    EXPECT_EQ(spread_over_cores(curve), std::nullopt);
    curve.points.front().least_core.reset();
    EXPECT_EQ(step_times(curve).front().least_core, std::nullopt);
}

TEST(StepTime, OneDepthMakesNoLine) { EXPECT_TRUE(step_times(curve_of({{1000, 4300}})).empty()); }

}  // namespace
}  // namespace occupipe
