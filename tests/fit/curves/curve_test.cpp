// SPDX-License-Identifier: MIT
#include "fit/curves/curve.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "tests/fit/synthetic.h"

namespace occupipe {
namespace {

using test::row_of;

constexpr MeasurementShape shape{2, 3, 1, 512};

TEST(Curve, PointIsTheMedianOfItsRepetitions) {
    MeasurementFile file;
    for (const double c : {100.0, 110.0, 101.0, 99.0, 102.0})
        file.rows.push_back(row_of("fma.f32", shape, c, 0));
    const auto curves = curves_of(std::span(&file, 1));
    ASSERT_EQ(curves.size(), 1U);
    ASSERT_EQ(curves[0].points.size(), 1U);
    EXPECT_EQ(curves[0].points[0].cycles, 101);
    EXPECT_EQ(curves[0].points[0].repetitions.size(), 5U);
    EXPECT_TRUE(curves[0].spread_known);
}

TEST(Curve, UnusableRowsAreCountedByReason) {
    MeasurementFile file;
    file.rows.push_back(row_of("fma.f32", shape, 100, 0));
    file.rows.push_back(row_of("fma.f32", shape, 0, 1));
    file.rows.push_back(row_of("fma.f32", shape, -5, 2));
    file.rows.push_back(row_of("fma.f32", shape, std::numeric_limits<double>::quiet_NaN(), 3));
    MeasurementRow failed = row_of("fma.f32", shape, 100, 4);
    failed.error = "launch failed";
    file.rows.push_back(failed);
    MeasurementRow blind = row_of("fma.f32", shape, 100, 5);
    blind.cycles.reset();
    blind.clock_hz.reset();
    file.rows.push_back(blind);
    file.rows.push_back(row_of("fma.f32", {2, 3, 1, 0}, 100, 6));
    const Curve curve = curves_of(std::span(&file, 1))[0];
    EXPECT_EQ(curve.rows, 7);
    EXPECT_EQ(curve.rejected_rows(), 6);
    EXPECT_EQ(curve.rejected.at("launch failed"), 1);
    EXPECT_EQ(curve.rejected.at("cycles are not positive and finite"), 3);
    EXPECT_EQ(curve.points.size(), 1U);
    EXPECT_FALSE(curve.spread_known);
}

TEST(Curve, BarriersInSeveralChainsAreRejected) {
    MeasurementFile file;
    file.rows.push_back(row_of("bar.sync", {2, 3, 2, 512}, 100, 0));
    EXPECT_EQ(curves_of(std::span(&file, 1))[0].rejected_rows(), 1);
}

TEST(Curve, CyclesFromEventTimeAreMarked) {
    MeasurementFile file;
    MeasurementRow row = row_of("fma.f32", shape, 100, 0);
    row.cycles.reset();
    row.seconds = 2e-6;
    row.clock_hz = 1e9;
    file.rows.push_back(row);
    const Curve curve = curves_of(std::span(&file, 1))[0];
    ASSERT_EQ(curve.points.size(), 1U);
    EXPECT_NEAR(curve.points[0].cycles, 2000, 1e-9);
    EXPECT_TRUE(curve.from_seconds);
}

TEST(Curve, PooledSpreadIsThatOfTheRepetitionsAndIgnoresOutliers) {
    for (const double outliers : {0.0, 0.01}) {
        MeasurementFile file;
        std::mt19937_64 random(5);
        test::add_rows(
            file, "fma.f32", test::gpu_shapes(),
            [](const auto& s) {
                return test::hull_time({"", 1, 20}, s);
            },
            {0.02, 5, outliers}, random);
        const Curve curve = curves_of(std::span(&file, 1))[0];
        EXPECT_NEAR(curve.spread, 0.02, 0.002) << "outlier share " << outliers;
    }
}

TEST(Curve, RepeatingExactlyDoesNotMakeAnErrorOfZero) {
    MeasurementFile file;
    for (int r = 0; r < 5; ++r) file.rows.push_back(row_of("fma.f32", shape, 1000, r));
    const Curve curve = curves_of(std::span(&file, 1))[0];
    EXPECT_EQ(curve.spread, 0);
    EXPECT_GT(curve.points[0].log_error, 1e-4);
}

TEST(Curve, BodiesOfTwoLengthsAreTwoPointsOfOnePlace) {
    MeasurementFile file;
    for (const int body : {256, 64})
        for (int r = 0; r < 3; ++r) {
            file.rows.push_back(row_of("fma.f32", shape, 1000 + body, r));
            file.rows.back().counters["unroll"] = body;
        }
    const Curve curve = curves_of(std::span(&file, 1))[0];
    ASSERT_EQ(curve.points.size(), 2U);
    EXPECT_EQ(curve.points[0].body, 64);
    EXPECT_EQ(curve.points[1].body, 256);
    EXPECT_EQ(several_bodies(curve).places, 1U);
    EXPECT_FALSE(curve.loop_share);
}

TEST(Curve, WhatElseStandsInTheLoopIsReadAndChecked) {
    MeasurementFile file;
    file.rows.push_back(row_of("fma.f32", shape, 1000, 0));
    file.rows.back().counters = {{"unroll", 128},
                                 {"loop_instructions", 131},
                                 {"other_instructions", 3},
                                 {"other_stall_cycles", 10}};
    file.rows.push_back(row_of("fma.f32", shape, 1000, 1));
    file.rows.back().counters = {{"loop_instructions", 3}, {"other_instructions", 3}};
    const Curve curve = curves_of(std::span(&file, 1))[0];
    EXPECT_DOUBLE_EQ(curve.loop_share.value(), 3.0 / 128);
    EXPECT_DOUBLE_EQ(curve.loop_stall.value(), 10.0 / 128);
    EXPECT_EQ(curve.rejected_rows(), 1);
    EXPECT_NE(curve.rejection_summary().find("other_instructions"), std::string::npos);
}

// Eight rows of the run's clock and one at 1.2 of 1.5 GHz: memory beyond the core counts other
// cycles then, arithmetic the same.
MeasurementFile with_a_slow_row(const std::string& subject) {
    MeasurementFile file;
    file.context["device_type"] = "gpu";
    for (int r = 0; r < 9; ++r) {
        file.rows.push_back(row_of(subject, shape, r == 4 ? 800 : 1000, r));
        file.rows.back().clock_hz = r == 4 ? 1.2e9 : 1.5e9;
    }
    return file;
}

TEST(Curve, MemoryRowsAtAnotherClockAreRejectedOthersKeptAndCounted) {
    for (const char* subject : {"ld.global.u32", "ld.global.l2.u32", "atom.global.add.u32"}) {
        const MeasurementFile file = with_a_slow_row(subject);
        const Curve curve = curves_of(std::span(&file, 1))[0];
        EXPECT_EQ(curve.rejected_rows(), 1) << subject;
        EXPECT_NE(curve.rejection_summary().find("another core clock"), std::string::npos);
    }
    for (const char* subject : {"fma.f32", "ld.shared.u32", "ld.global.l1.u32"}) {
        const MeasurementFile file = with_a_slow_row(subject);
        const Curve curve = curves_of(std::span(&file, 1))[0];
        EXPECT_EQ(curve.rejected_rows(), 0) << subject;
        EXPECT_EQ(curve.rows_at_another_clock, 1) << subject;
    }
    // The row's own word goes before its name, and its mark before the file's median.
    MeasurementFile file = with_a_slow_row("fma.f32");
    file.rows[2].counters = {{"off_core", 1}, {"clock_deviation", 0.05}};
    EXPECT_EQ(curves_of(std::span(&file, 1))[0].rejected_rows(), 1);
    // Where any clock is as good as another (CPUs, imports), none is the rest's.
    file = with_a_slow_row("ld.global.u32");
    file.context.clear();
    EXPECT_EQ(curves_of(std::span(&file, 1))[0].rejected_rows(), 0);
}

// The clocks of an H200's first run: intervals that ended some 60 us late made short rows look
// slow.
TEST(Curve, AnIntervalsErrorIsNoOtherClock) {
    MeasurementFile file;
    file.context = {{"device_type", "gpu"}, {"reference_clock_hz", "2e9"}};
    const auto add = [&](double cycles, double late_seconds, double true_hz) {
        file.rows.push_back(row_of("ld.global.u32", shape, cycles, 0));
        file.rows.back().clock_hz = cycles / (cycles / true_hz + late_seconds);
    };
    for (int i = 0; i < 500; ++i) add(10'000 + i, i % 10 == 0 ? 60e-6 : 0, 2e9);
    for (int i = 0; i < 500; ++i) add(100'000 + i, i % 10 == 0 ? 60e-6 : 0, 2e9);
    for (int i = 0; i < 500; ++i) add(10'000'000, 60e-6, 2e9);
    EXPECT_EQ(curves_of(std::span(&file, 1))[0].rejected_rows(), 0);
    // Of long rows a tenth is another clock, whatever the error.
    for (int i = 0; i < 7; ++i) add(10'000'000, 60e-6, 1.8e9);
    EXPECT_EQ(curves_of(std::span(&file, 1))[0].rejected_rows(), 7);
}

TEST(Curve, RepetitionsAreBroughtToOneStartSkew) {
    MeasurementFile file;
    for (int r = 0; r < 3; ++r) {
        file.rows.push_back(row_of("fma.f32", shape, 1000 + 20 * r, r));
        file.rows.back().counters["start_skew_cycles"] = 20 * r;
    }
    const Curve curve = curves_of(std::span(&file, 1))[0];
    EXPECT_EQ(curve.points[0].skew, 20);
    EXPECT_EQ(curve.points[0].repetitions, (std::vector<double>{1020, 1020, 1020}));
}

TEST(Curve, WhatRowsTellOfTheirCoresBecomesMedians) {
    MeasurementFile file;
    for (int r = 0; r < 3; ++r) {
        file.rows.push_back(row_of("ld.global.l2.u32.line", shape, 1000, r));
        file.rows.back().counters = {{"cycles_min", 900 + r},
                                     {"core_cycles_q1", 950 + r},
                                     {"core_cycles_q3", 1050 + r},
                                     {"cycles_max", 1100 + r}};
    }
    const Curve curve = curves_of(std::span(&file, 1))[0];
    EXPECT_TRUE(curve.off_core);
    EXPECT_EQ(curve.points[0].least_core, 901);
    EXPECT_EQ(curve.points[0].lower_quartile, 951);
    EXPECT_EQ(curve.points[0].upper_quartile, 1051);
    EXPECT_EQ(curve.points[0].greatest_core, 1101);
    file.rows = {row_of("fma.f32", shape, 1000, 0)};
    EXPECT_FALSE(curves_of(std::span(&file, 1))[0].off_core);
    EXPECT_EQ(curves_of(std::span(&file, 1))[0].points[0].lower_quartile, std::nullopt);
}

// Event times have the launch in them: beside counted cycles they are another quantity.
TEST(Curve, EventTimesBesideCountedCyclesAreLeftOutAndCounted) {
    MeasurementFile file;
    for (int r = 0; r < 6; ++r) {
        MeasurementRow row = test::row_of("fma.f32", {1, 1, 1, 64}, 400, r);
        row.seconds += 2e-6;
        if (r % 2 == 0) row.cycles.reset();
        file.rows.push_back(row);
        row.subject = "div.f32";
        row.cycles.reset();
        file.rows.push_back(row);
    }
    const std::vector<Curve> curves = curves_of(std::span(&file, 1));
    ASSERT_EQ(curves.size(), 2U);
    EXPECT_EQ(curves[0].points.front().repetitions, (std::vector<double>{400, 400, 400}));
    EXPECT_EQ(curves[0].rejected_rows(), 3);
    EXPECT_NE(curves[0].rejection_summary().find("3 x event time only"), std::string::npos);
    EXPECT_FALSE(curves[0].from_seconds);
    EXPECT_EQ(curves[1].rejected_rows(), 0);
    EXPECT_TRUE(curves[1].from_seconds);
}

TEST(Curve, SubjectsOfSeveralFilesMerge) {
    std::vector<MeasurementFile> files(2);
    files[0].rows.push_back(row_of("fma.f32", shape, 100, 0));
    files[0].rows.push_back(row_of("add.f32", shape, 100, 0));
    files[1].rows.push_back(row_of("fma.f32", shape, 102, 0));
    const auto curves = curves_of(files);
    ASSERT_EQ(curves.size(), 2U);
    EXPECT_EQ(curves[0].subject, "fma.f32");
    EXPECT_EQ(curves[0].points[0].cycles, 101);
    EXPECT_EQ(curves[1].subject, "add.f32");
}

}  // namespace
}  // namespace occupipe
