// SPDX-License-Identifier: MIT
#include "fit/curves/line_fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

namespace occupipe {
namespace {

std::vector<LinePoint> points_on(const std::function<double(double)>& law, double noise,
                                 std::uint64_t seed, int count = 16) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    std::vector<LinePoint> out;
    for (int i = 1; i <= count; ++i) {
        const double x = i;
        const double error = std::max(noise, 1e-6);
        out.push_back({x, law(x) + noise * normal(random), error});
    }
    return out;
}

TEST(LineFit, ExactLineOfAnyScaleAndSign) {
    for (const double unit : {1e-9, 1.0, 1e6})
        for (const double slope : {-3.0, 2.0}) {
            std::vector<LinePoint> points;
            for (const double x : {1.0, 2.0, 8.0, 64.0})
                points.push_back({x, unit * (-7 + slope * x), 1e-4 * unit});
            const LineFit f = fit_line(points);
            ASSERT_TRUE(f.ok()) << f.reason;
            EXPECT_NEAR(f.intercept.value, -7 * unit, 1e-8 * unit);
            EXPECT_NEAR(f.slope.value, slope * unit, 1e-8 * unit);
            EXPECT_FALSE(f.bend);
        }
}

TEST(LineFit, StandardErrorsAreTheTextbooks) {
    // Unweighted, error 1: var(slope) = 1/Sxx, var(intercept) = 1/n + mean²/Sxx.
    const auto points = points_on([](double x) { return 3 + 2 * x; }, 0, 1, 4);
    std::vector<LinePoint> weighted = points;
    for (LinePoint& p : weighted) p.error = 1;
    const LineFit f = fit_line(weighted);
    ASSERT_TRUE(f.ok());
    EXPECT_NEAR(f.slope.std_error.value(), std::sqrt(1 / 5.0), 1e-6);
    EXPECT_NEAR(f.intercept.std_error.value(), std::sqrt(1 / 4.0 + 2.5 * 2.5 / 5.0), 1e-6);
}

TEST(LineFit, IntervalsCoverAndStraightLinesStayStraight) {
    int inside = 0;
    int bent = 0;
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        const LineFit f = fit_line(points_on([](double x) { return 5 + 2 * x; }, 0.3, seed));
        ASSERT_TRUE(f.ok());
        bent += f.bend.has_value();
        inside += std::abs(f.slope.value - 2) <= 1.96 * f.slope.std_error.value();
    }
    EXPECT_GE(inside, 366);  // 400·0.95 less three standard deviations
    EXPECT_LE(bent, 40);
}

TEST(LineFit, ABendIsFoundWithBothSlopes) {
    int found = 0;
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        const LineFit f = fit_line(
            points_on([](double x) { return 5 + 1 * x + 2 * std::max(0.0, x - 7.3); }, 0.1, seed));
        ASSERT_TRUE(f.ok());
        if (!f.bend) continue;
        ++found;
        EXPECT_NEAR(f.slope.value, 1, 0.15);
        EXPECT_NEAR(f.bend->at.value, 7.3, 0.4);
        EXPECT_NEAR(f.bend->slope.value, 3, 0.15);
    }
    EXPECT_EQ(found, 50);
}

TEST(LineFit, AWildPointDoesNotMoveTheLine) {
    auto points = points_on([](double x) { return 5 + 2 * x; }, 0.05, 3);
    points[15].y *= 3;
    LineOptions options;
    options.allow_bend = false;
    const LineFit f = fit_line(points, options);
    ASSERT_TRUE(f.ok());
    EXPECT_NEAR(f.slope.value, 2, 0.05);
}

TEST(LineFit, TooLittleOrBadDataGiveAReason) {
    EXPECT_FALSE(fit_line(points_on([](double x) { return x; }, 0.1, 1, 2)).ok());
    auto points = points_on([](double x) { return x; }, 0.1, 1);
    points[2].error = 0;
    EXPECT_FALSE(fit_line(points).ok());
    EXPECT_FALSE(fit_line({}).ok());
}

}  // namespace
}  // namespace occupipe
