// SPDX-License-Identifier: MIT
// What is in the picture of a fitted curve: a line for each family of shapes, and arrows where a
// bound, or a value, lies outside.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "analysis/measured/curve_points.h"
#include "report/figures/fit_figures.h"

namespace occupipe::report {
namespace {

// Warps 1 … 64 of one chain, and 1, 2, 4 and 8 chains of 1 and of 4 warps. Four schedulers with a
// unit each of 4 cycles: chains of one warp keep one of them busy, warps all.
SubjectReport subject(double cpi, double latency) {
    SubjectReport made;
    made.curve.subject = "fma.f32";
    const auto add = [&](int warps, int chains) {
        for (const std::int64_t depth : {512, 2048}) {
            CurvePoint p;
            p.shape = {
                .group_warps = warps, .concurrent_groups = 1, .chains = chains, .depth = depth};
            const double busiest = std::ceil(warps / 4.0) * 4 * chains;
            p.cycles = std::max(latency, busiest * cpi) * static_cast<double>(depth);
            p.log_error = 0.001;
            made.curve.points.push_back(p);
            made.fit.predicted.push_back(p.cycles);
        }
    };
    for (const int warps : {1, 2, 4, 8, 16, 32, 64}) add(warps, 1);
    for (const int chains : {2, 4, 8})
        for (const int warps : {1, 4}) add(warps, chains);
    made.fit.ok = true;
    made.fit.cpi.value = cpi;
    made.fit.latency.value = latency;
    return made;
}

TEST(ShapeFamilies, WarpsAndChainsAreLinesOfTheirOwn) {
    const SubjectReport made = subject(1, 6);
    const auto families = analysis::shape_families(made.curve, made.fit.predicted);
    ASSERT_EQ(families.size(), 2U);  // four warps' chains are as warps are
    EXPECT_EQ(families[0].name, "1 chain");
    EXPECT_EQ(families[1].name, "chains, 1 warp");
    EXPECT_EQ(families[0].places.size(), 7U);
    EXPECT_EQ(families[1].places.size(), 4U);
    for (const auto& family : families) {
        double last = 0;
        for (const std::size_t i : family.places) {
            const double m = analysis::in_flight(made.curve.points[i]);
            EXPECT_GT(m, last);
            last = m;
            EXPECT_EQ(made.curve.points[i].shape.depth, 2048);
        }
    }
}

TEST(ShapeFamilies, GroupsOfDifferentSizesAreApartOnlyWhereTheyDiffer) {
    SubjectReport made = subject(1, 6);
    CurvePoint other = made.curve.points[9];  // 16 warps, 2048 deep
    ASSERT_EQ(other.shape.warps(), 16);
    other.shape.group_warps = 4;
    other.shape.concurrent_groups = 4;
    made.curve.points.push_back(other);
    made.fit.predicted.push_back(other.cycles);
    EXPECT_EQ(analysis::shape_families(made.curve, made.fit.predicted).size(), 2U);
    made.fit.predicted.back() *= 1.3;
    const auto apart = analysis::shape_families(made.curve, made.fit.predicted);
    EXPECT_TRUE(std::ranges::none_of(apart, [](const auto& f) { return f.name == "1 chain"; }));
}

TEST(HullFigure, NoLineJoinsPlacesOfDifferentFamilies) {
    const SubjectReport made = subject(1, 6);
    const plot::Figure figure = hull_figure(made);
    std::set<std::string> names;
    for (const plot::Series& series : figure.series) names.insert(series.name);
    for (const char* name : {"fit, 1 chain", "chains, 1 warp", "measured", "more chains"})
        EXPECT_TRUE(names.contains(name)) << name;
    // At eight in flight a warp's chains take four times as long as warps.
    const auto at_eight = [&](const char* name) {
        for (const plot::Series& series : figure.series)
            for (const plot::Point& p : series.points)
                if (series.name == name && p.x == 8) return p.y;
        return 0.0;
    };
    EXPECT_DOUBLE_EQ(at_eight("fit, 1 chain"), 1);
    EXPECT_DOUBLE_EQ(at_eight("chains, 1 warp"), 4);
}

TEST(HullFigure, ABoundOutsideOfTheAxesIsAnArrow) {
    SubjectReport made = subject(1, 6);
    EXPECT_TRUE(hull_figure(made).arrows.empty());
    made.fit.cpi = {.value = 0.001, .kind = Estimate::Kind::upper_bound};
    const plot::Figure figure = hull_figure(made);
    ASSERT_EQ(figure.arrows.size(), 1U);
    EXPECT_LT(figure.arrows[0].to_y, figure.arrows[0].y);  // down
    EXPECT_EQ(figure.arrows[0].to_y, figure.y.low);
    EXPECT_GT(*figure.y.low, 0.1);  // the curve keeps its room
    ASSERT_EQ(figure.labels.size(), 1U);
    EXPECT_NE(figure.labels[0].text.find("0.001"), std::string::npos);
    for (const plot::Series& series : figure.series)
        EXPECT_FALSE(series.name.starts_with("λ")) << "a line outside of the picture";
    // A bound inside of them has an arrow to where the value may lie.
    made.fit.cpi = {.value = 1.1, .kind = Estimate::Kind::upper_bound};
    const plot::Figure inside = hull_figure(made);
    ASSERT_EQ(inside.arrows.size(), 1U);
    EXPECT_EQ(inside.arrows[0].y, 1.1);
    EXPECT_LT(inside.arrows[0].to_y, 1.1);
    made.fit.cpi = {.value = 1};
    made.fit.latency = {.value = 900, .kind = Estimate::Kind::lower_bound};
    const plot::Figure above = hull_figure(made);
    ASSERT_EQ(above.arrows.size(), 1U);
    EXPECT_EQ(above.arrows[0].to_y, above.y.high);
}

}  // namespace
}  // namespace occupipe::report
