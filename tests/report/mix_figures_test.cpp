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

const plot::Series* series(const plot::Figure& figure, const std::string& name) {
    const auto found = std::ranges::find(figure.series, name, &plot::Series::name);
    return found == figure.series.end() ? nullptr : &*found;
}

// Each pair has a panel over β and one over occupancy, each curve with its own error.
TEST(MixFigures, APairIsDrawnOverBetaAndOverOccupancyBesideTheSimulation) {
    std::vector<analysis::MeasuredPoint> points;
    analysis::Predictor simulated{.name = "pipeline", .cycles = {}};
    analysis::Predictor other{.name = "roofline", .cycles = {}};
    const auto add = [&](const Mix& mix, int warps, double per_period) {
        analysis::MeasuredPoint point;
        point.subject = mix_name(mix);
        point.shape = {.group_warps = warps, .concurrent_groups = 1, .chains = 1, .depth = 340};
        point.cycles = per_period * warps * 340.0 / (mix.beta + 1);
        points.push_back(point);
        simulated.cycles.emplace_back(point.cycles / 1.1);
        other.cycles.emplace_back(1);
    };
    for (const int warps : {1, 2, 4, 8, 16})
        add({"fma.f32", 4, "cos.approx.f32"}, warps, 16.0 / warps);
    add({"fma.f32", 16, "cos.approx.f32"}, 16, 4);
    add({"cos.approx.f32", 1, "fma.f32"}, 16, 1);  // at one place: nothing to draw
    GpuProfile limited = profile();
    limited.issue.limit = 4;
    const auto figures = mix_curves(points, {simulated, other}, limited);
    ASSERT_EQ(figures.size(), 2U);
    EXPECT_EQ(figures[0].title, "fma.f32 with cos.approx.f32, 16 in flight");
    EXPECT_EQ(figures[1].title, "fma.f32 with cos.approx.f32, β = 4");
    for (const plot::Figure& figure : figures) {
        EXPECT_EQ(figure.series.size(), 5U);  // three laws, simulated, measured
        ASSERT_NE(series(figure, "simulated, MAPE 10.0 %"), nullptr);
        ASSERT_NE(series(figure, "measured"), nullptr);
    }
    // Measured are 4 per cycle; 4/(4/4 + 1) and 16/(16/4 + 1) by one unit, 16/5 and 64/17 by issue.
    EXPECT_NE(series(figures[0], "one subsystem (43), MAPE 35.0 %"), nullptr);
    EXPECT_NE(series(figures[0], "two with issue limit (45), MAPE 12.9 %"), nullptr);
    // 4 by law, 1/4, 1/2, 1, 2 and 4 as measured.
    EXPECT_NE(series(figures[1], "two subsystems (44), MAPE 520.0 %"), nullptr);
    const auto& measured = series(figures[1], "measured")->points;
    ASSERT_EQ(measured.size(), 5U);
    for (const plot::Point& p : measured) EXPECT_NEAR(p.y, p.x / 4, 1e-9);
}

}  // namespace
}  // namespace occupipe::report
