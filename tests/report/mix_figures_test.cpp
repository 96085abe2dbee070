// SPDX-License-Identifier: MIT
#include "report/figures/mix_figures.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace occupipe::report {
namespace {

GpuProfile profile() {
    GpuProfile made;
    made.cores = 1;
    made.subsystems = {{.name = "alu"}, {.name = "sfu"}};
    made.instructions = {{.name = "fma.f32",
                          .subsystem = "alu",
                          .cpi = {.value = 0.25},
                          .latency = Estimate{.value = 4}},
                         {.name = "cos.approx.f32",
                          .subsystem = "sfu",
                          .cpi = {.value = 1},
                          .latency = Estimate{.value = 18}}};
    return made;
}

// Two subsystems bend at β = 4, which was not measured; errors are those at the measured β alone.
TEST(MixFigures, LawsAreDrawnBetweenTheMeasuredBetas) {
    std::vector<analysis::MeasuredPoint> points;
    for (const int beta : {1, 16}) {
        analysis::MeasuredPoint point;
        point.subject = mix_name({"fma.f32", beta, "cos.approx.f32"});
        point.shape = {.group_warps = 32, .concurrent_groups = 1, .chains = 1, .depth = 17 * 2};
        const double periods = 32.0 * 34 / (beta + 1);
        point.cycles = periods * std::max(1.0, 0.25 * beta);
        points.push_back(point);
    }
    const auto figures = mix_curves(points, {}, profile());
    ASSERT_EQ(figures.size(), 1U);
    const auto found = std::ranges::find_if(figures[0].series, [](const plot::Series& series) {
        return series.name.starts_with("two subsystems (44)");
    });
    ASSERT_NE(found, figures[0].series.end());
    EXPECT_EQ(found->name, "two subsystems (44), MAPE 0.0 %");
    for (const plot::Point& p : found->points) EXPECT_NEAR(p.y, std::min(4.0, p.x), 1e-9) << p.x;
    EXPECT_GT(found->points.size(), 10U);
    EXPECT_EQ(found->points.front().x, 1);
    EXPECT_NEAR(found->points.back().x, 16, 1e-9);
}

}  // namespace
}  // namespace occupipe::report
