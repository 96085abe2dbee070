// SPDX-License-Identifier: MIT
#include "fit/curves/step_time.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
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

// Of Λ = 20 and λ = 2, at numbers of warps as `cycles` says otherwise.
std::vector<int> believed(const std::map<int, double>& cycles) {
    std::vector<StepTime> steps;
    for (const int warps : {1, 2, 4, 8, 10, 12, 14, 16, 20, 24, 28, 32}) {
        StepTime& step = steps.emplace_back();
        step.place.shape = {.group_warps = warps};
        const auto at = cycles.find(warps);
        step.cycles.value = at != cycles.end() ? at->second : std::max(20.0, 2.0 * warps);
        step.cycles.std_error = 0.002 * step.cycles.value;
    }
    std::vector<int> out;
    for (const StepTime& step : believable_steps(steps)) out.push_back(step.place.shape.warps());
    return out;
}

TEST(BelievableSteps, AreNotThoseThatOtherNumbersOfWarpsContradict) {
    EXPECT_EQ(believed({}).size(), 12u);
    for (const int warps : {2, 8, 10, 14, 20, 32}) {
        const auto left = believed({{warps, std::max(10.0, 1.0 * warps)}});
        EXPECT_EQ(left.size(), 11u) << warps;
        EXPECT_EQ(std::ranges::count(left, warps), 0) << warps;
    }
    // One that is too long contradicts its neighbour, but others reach as much as that.
    EXPECT_EQ(believed({{16, 96.0}}).size(), 12u);
    // Uneven placements: those that are even are few, and agree.
    EXPECT_EQ(believed({{10, 40.0}, {14, 42.0}, {20, 60.0}, {28, 80.0}}).size(), 12u);
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

// Sixteen cores that take so many cycles per step, and what the rows tell of them.
Curve curve_over_cores(std::vector<double> steps) {
    Curve curve = curve_of({{1000, 4300}, {2000, 8300}, {4000, 16300}});
    curve.off_core = true;
    std::sort(steps.begin(), steps.end());
    for (CurvePoint& point : curve.points) {
        const auto cycles = [&](std::size_t i) {
            return steps[i] * static_cast<double>(point.shape.depth) + 300;
        };
        point.least_core = cycles(0);
        point.lower_quartile = cycles(steps.size() / 4);
        point.upper_quartile = cycles(steps.size() - 1 - steps.size() / 4);
        point.greatest_core = cycles(steps.size() - 1);
    }
    return curve;
}

TEST(TwoDistances, CoresNearAndFarAreTwoLevels) {
    Curve curve = curve_over_cores({219, 230, 240, 250, 255, 260, 280, 295,  //
                                    414, 420, 440, 450, 455, 460, 480, 502});
    const auto found = two_distances(curve);
    ASSERT_TRUE(found.has_value());
    EXPECT_NEAR(found->near.value, 255, 1e-9);
    EXPECT_NEAR(found->far.value, 450, 1e-9);
    EXPECT_NEAR(*found->near.std_error / 255, *step_times(curve)[0].cycles.std_error / 4, 1e-12);
    EXPECT_EQ(spread_over_cores(curve),
              "219 to 502 cycles per step over the cores, with 2 in flight: a near and a far half");
    curve.off_core = false;  // an instruction of the core: whatever this is, it is no memory
    EXPECT_EQ(two_distances(curve), std::nullopt);
}

// One level where the cores' times spread evenly, lie about one value, agree but for a few, or
// differ by little; and where one depth does not show what the others do.
TEST(TwoDistances, WithoutClearEvidenceThereIsOneLevel) {
    std::vector<double> even, about, few(16, 250), close;
    for (int i = 0; i < 16; ++i) {
        even.push_back(220 + 18 * i);
        about.push_back(350 + 0.4 * (i - 7.5) * std::abs(i - 7.5) * std::abs(i - 7.5));
        close.push_back(i < 8 ? 250 : 270);
    }
    few[0] = few[1] = few[2] = 450;
    for (const auto& steps : {even, about, few, close}) {
        const Curve curve = curve_over_cores(steps);
        EXPECT_EQ(two_distances(curve), std::nullopt);
        EXPECT_TRUE(
            spread_over_cores(curve)->ends_with("no two groups of cores can be distinguished"));
    }
    Curve curve = curve_over_cores({250, 250, 250, 250, 450, 450, 450, 450});
    EXPECT_TRUE(two_distances(curve).has_value());
    curve.points[1].upper_quartile = *curve.points[1].lower_quartile * 1.2;
    EXPECT_EQ(two_distances(curve), std::nullopt);
}

TEST(StepTime, OneDepthMakesNoLine) { EXPECT_TRUE(step_times(curve_of({{1000, 4300}})).empty()); }

}  // namespace
}  // namespace occupipe
