// SPDX-License-Identifier: MIT
// Balanced and unbalanced placements of warps over schedulers: how many schedulers there are and
// what each has for itself. Times come from the tests' own event simulation.
#include <gtest/gtest.h>

#include <cmath>

#include "fit/curves/counters.h"
#include "fit/profile/build_profile.h"
#include "fit/profile/fit_report.h"
#include "tests/fit/synthetic.h"
#include "tests/fit/tiny_core.h"

namespace occupipe {
namespace {

struct Place {
    int warps;
    int busiest;
};

// On four schedulers: spread evenly (only multiples of four, so that no staircase shows), or all
// warps on one.
const std::vector<Place>& places() {
    static const std::vector<Place> all{{1, 1},   {4, 1}, {8, 2}, {16, 4},  {32, 8}, {48, 12},
                                        {64, 16}, {4, 4}, {8, 8}, {12, 12}, {16, 16}};
    return all;
}

void add(MeasurementFile& file, const std::string& subject, const std::vector<Place>& where,
         const std::function<double(const MeasurementShape&, int busiest)>& time,
         std::uint64_t seed, bool record = true) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    for (const Place& p : where)
        for (const int depth : {64, 128, 256})
            for (int r = 0; r < 5; ++r) {
                const MeasurementShape shape{p.warps, 1, 1, depth};
                MeasurementRow row = test::row_of(
                    subject, shape, time(shape, p.busiest) * (1 + 0.005 * normal(random)), r);
                if (record) row.counters[busiest_scheduler_counter] = p.busiest;
                file.rows.push_back(std::move(row));
            }
}

// The fullest scheduler decides: its copy alone, with its warps.
double copy_per_scheduler(int cpi, int latency, const MeasurementShape& s, int busiest) {
    const test::TinyCore one{cpi, latency, 1, false};
    return static_cast<double>(one.run({busiest, 1, s.chains, s.depth}));
}

double one_for_the_core(int cpi, int latency, const MeasurementShape& s) {
    return static_cast<double>(test::TinyCore{cpi, latency, 1, false}.run(s));
}

TEST(Placement, UnbalancedRowsTellSchedulersAndScope) {
    int right = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        MeasurementFile file = test::empty_file();
        add(
            file, "fma.f32", places(),
            [](const auto& s, int b) { return copy_per_scheduler(2, 9, s, b); }, seed);
        add(
            file, "fma.f64", places(),
            [](const auto& s, int) { return one_for_the_core(4, 40, s); }, seed + 100);
        const FitOutcome out = fit_measurements(std::span(&file, 1));
        const InstructionTiming* own = out.profile.find_instruction("fma.f32");
        const InstructionTiming* shared = out.profile.find_instruction("fma.f64");
        ASSERT_TRUE(own != nullptr && shared != nullptr);
        EXPECT_EQ(out.profile.issue.schedulers, 4);
        EXPECT_EQ(out.profile.find_subsystem(own->subsystem)->scope, Scope::scheduler);
        EXPECT_EQ(out.profile.find_subsystem(shared->subsystem)->scope, Scope::core);
        EXPECT_NEAR(own->cpi.value, 2, 0.04);  // per scheduler
        EXPECT_NEAR(own->latency->value, 9, 0.2);
        EXPECT_NEAR(shared->cpi.value, 4, 0.04);
        EXPECT_NEAR(shared->latency->value, 40, 0.8);
        EXPECT_NE(format_fit_report(out).find("| 16 x 1 x 1, 16 on one scheduler |"),
                  std::string::npos);
        right += std::abs(own->cpi.value - 2) <= 1.96 * own->cpi.std_error.value();
    }
    EXPECT_GE(right, 15);
}

TEST(Placement, EvenRowsAloneDoNotTellTheScopeAndTheProfileSaysSo) {
    std::vector<Place> even(places().begin(), places().begin() + 7);
    MeasurementFile file = test::empty_file();
    add(
        file, "fma.f32", even, [](const auto& s, int b) { return copy_per_scheduler(2, 9, s, b); },
        1);
    const FitOutcome out = fit_measurements(std::span(&file, 1));
    EXPECT_EQ(out.profile.issue.schedulers, 4);  // placements count them
    const InstructionTiming* t = out.profile.find_instruction("fma.f32");
    EXPECT_NEAR(t->cpi.value, 0.5, 0.01);  // per core
    EXPECT_FALSE(out.profile.find_subsystem(t->subsystem)->scope);
    EXPECT_EQ(out.assumed_scopes, std::vector{t->subsystem});
    bool said = false;
    for (const std::string& note : out.notes) said |= note.find("scope of subsystem") == 0;
    EXPECT_TRUE(said);
}

TEST(Placement, OneShapeAtTwoPlacementsIsTwoPoints) {
    MeasurementFile file = test::empty_file();
    add(
        file, "x.f32", {{4, 1}, {4, 4}}, [](const auto&, int b) { return 100.0 * b; }, 1);
    const Curve curve = curves_of(std::span(&file, 1))[0];
    ASSERT_EQ(curve.points.size(), 6U);
    EXPECT_EQ(curve.points[0].busiest, 1);
    EXPECT_NEAR(curve.points[0].cycles, 100, 2);
    EXPECT_EQ(curve.points[5].busiest, 4);
    EXPECT_NEAR(curve.points[5].cycles, 400, 8);
    EXPECT_EQ(schedulers_seen(curve), 4);
}

TEST(Placement, ImpossibleCountsAreRejected) {
    MeasurementFile file = test::empty_file();
    add(
        file, "x.f32", {{4, 5}, {4, 0}}, [](const auto&, int) { return 100.0; }, 1);
    const Curve curve = curves_of(std::span(&file, 1))[0];
    EXPECT_TRUE(curve.points.empty());
    EXPECT_EQ(curve.rejected_rows(), 30);
    EXPECT_NE(curve.rejection_summary().find(busiest_scheduler_counter), std::string::npos);
}

}  // namespace
}  // namespace occupipe
