// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "fit/curves/counters.h"
#include "fit/laws/fit_working_set.h"
#include "fit/profile/build_profile.h"
#include "fit/profile/fit_report.h"
#include "tests/fit/synthetic.h"

namespace occupipe {
namespace {

struct Level {
    double capacity;  // bytes
    double latency;   // cycles
};

// Working sets in quarter octaves; beyond a capacity the hit rate falls as capacity / size, over
// less than an octave, as with least-recently-used sets and a random walk.
double latency_at(const std::vector<Level>& levels, double bytes) {
    for (std::size_t i = 0; i < levels.size(); ++i) {
        if (i + 1 == levels.size() || bytes <= levels[i].capacity) return levels[i].latency;
        if (bytes < 1.5 * levels[i].capacity) {
            const double misses = (bytes / levels[i].capacity - 1) / 0.5;
            return levels[i].latency + misses * (levels[i + 1].latency - levels[i].latency);
        }
    }
    return 0;
}

std::vector<WorkingSetPoint> points(const std::vector<Level>& levels, double noise,
                                    std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    std::vector<WorkingSetPoint> out;
    for (double bytes = 4096; bytes < 1 << 28; bytes *= std::pow(2, 0.25))
        out.push_back({bytes, latency_at(levels, bytes) * (1 + noise * normal(random)), noise});
    return out;
}

const std::vector<Level> h100_like{{256e3, 33}, {25e6, 270}, {1e18, 680}};

TEST(WorkingSet, FindsLevelsAndBracketsTheirCapacities) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const WorkingSetFit f = fit_working_set("ld.global.u32", points(h100_like, 0.01, seed));
        ASSERT_TRUE(f.ok()) << f.reason;
        ASSERT_EQ(f.levels.size(), 3U) << "seed " << seed;
        for (std::size_t i = 0; i < 3; ++i)
            EXPECT_NEAR(f.levels[i].latency.value, h100_like[i].latency,
                        std::max(0.02 * h100_like[i].latency, 3 * *f.levels[i].latency.std_error));
        for (std::size_t i = 0; i < 2; ++i) {
            EXPECT_LE(f.levels[i].last_bytes, h100_like[i].capacity * 1.1);
            EXPECT_GE(f.levels[i + 1].first_bytes, h100_like[i].capacity);
            ASSERT_TRUE(f.levels[i].edge_confidence);
            EXPECT_GT(*f.levels[i].edge_confidence, 0.5);
        }
        EXPECT_FALSE(f.levels[2].edge_confidence);
    }
}

// Beyond DRAM's plateau the reach of a TLB ends: a step of a sixth only.
TEST(WorkingSet, FindsTheSmallStepOfATlbToo) {
    const std::vector<Level> levels{{128e3, 33}, {4e6, 260}, {48e6, 600}, {1e18, 700}};
    int found = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const WorkingSetFit f = fit_working_set("ld.global.u32", points(levels, 0.01, seed));
        ASSERT_TRUE(f.ok()) << f.reason;
        if (f.levels.size() != 4) continue;
        ++found;
        EXPECT_NEAR(f.levels[2].latency.value, 600, 12);
        EXPECT_NEAR(f.levels[3].latency.value, 700, 14);
        EXPECT_GE(f.levels[3].first_bytes, 48e6);
        EXPECT_LE(f.levels[2].last_bytes, 48e6 * 1.3);
    }
    EXPECT_GE(found, 19);
}

// Every edge is in the place that it says, as often as it says.
TEST(WorkingSet, ConfidenceOfAnEdgeIsHowOftenItIsThere) {
    double promised = 0;
    double kept = 0;
    int edges = 0;
    const std::vector<Level> levels{{256e3, 100}, {1e18, 110}};  // easily missed at 3 % noise
    const WorkingSetFit truth = fit_working_set("x", points(levels, 1e-6, 1));
    ASSERT_EQ(truth.levels.size(), 2U);
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        const WorkingSetFit f = fit_working_set("x", points(levels, 0.03, seed));
        if (f.levels.size() != 2) continue;
        ++edges;
        promised += *f.levels[0].edge_confidence;
        kept += f.levels[1].first_bytes == truth.levels[1].first_bytes;
    }
    ASSERT_GT(edges, 20);
    EXPECT_NEAR(promised / edges, kept / edges, 0.25);
}

TEST(WorkingSet, OnePlateauHasNoEdges) {
    int single = 0;
    for (std::uint64_t seed = 1; seed <= 50; ++seed)
        single +=
            fit_working_set("ld.shared.u32", points({{1e18, 33}}, 0.02, seed)).levels.size() == 1;
    EXPECT_GE(single, 49);
}

TEST(WorkingSet, TooFewSizesGiveAReason) {
    const WorkingSetFit f = fit_working_set("x", {{4096, 30, 0.01}, {8192, 30, 0.01}});
    EXPECT_FALSE(f.ok());
    EXPECT_THAT(f.reason, ::testing::HasSubstr("at least 6"));
}

TEST(WorkingSet, RowsWithTheCounterAreKeptOutOfHulls) {
    MeasurementFile file = test::empty_file();
    std::mt19937_64 random(3);
    const test::Truth truth{"ld.global.u32", 12, 345};
    test::add_rows(
        file, truth.name, test::gpu_shapes(64, 8),
        [&](const auto& s) { return hull_time(truth, s); }, {0.01, 3}, random);
    std::normal_distribution<double> normal;
    for (const WorkingSetPoint& p : points(h100_like, 0, 1))
        for (const int depth : {512, 1024})
            for (int r = 0; r < 6; ++r) {
                // Several warps queue and see more; the one alone counts.
                const int warps = r < 3 ? 1 : 8;
                MeasurementRow row = test::row_of(
                    truth.name, {warps, 1, 1, depth},
                    (200 + warps * p.cycles * depth) * (1 + 0.002 * normal(random)), r % 3);
                row.counters[working_set_counter] = p.bytes;
                file.rows.push_back(row);
            }
    const FitOutcome out = fit_measurements(std::vector{file});
    const InstructionTiming* t = out.profile.find_instruction(truth.name);
    ASSERT_NE(t, nullptr);
    EXPECT_NEAR(t->latency->value, 345, 4);
    ASSERT_EQ(out.working_sets.size(), 1U);
    EXPECT_EQ(out.working_sets[0].levels.size(), 3U);
    ASSERT_EQ(out.profile.memory_levels.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i)
        EXPECT_NEAR(out.profile.memory_levels[i].latency.value, h100_like[i].latency,
                    0.02 * h100_like[i].latency);
    EXPECT_THAT(format_fit_report(out), ::testing::HasSubstr("working set"));
    EXPECT_THAT(format_fit_table(out), ::testing::HasSubstr("ld.global.u32 levels"));

    // Between the largest set that fits and the smallest that does not, the driver's word counts.
    const double fits = out.profile.memory_levels[1].last_bytes;
    const double too_large = out.profile.memory_levels[2].first_bytes;
    const auto last_bytes_with = [&](double l2_bytes) {
        file.context["l2_bytes"] = std::to_string(static_cast<std::int64_t>(l2_bytes));
        return fit_measurements(std::vector{file}).profile.memory_levels[1].last_bytes;
    };
    const double between = std::floor((fits + too_large) / 2);
    EXPECT_EQ(last_bytes_with(between), between);
    EXPECT_EQ(last_bytes_with(fits / 2), fits);
    EXPECT_EQ(last_bytes_with(2 * too_large), fits);
}

}  // namespace
}  // namespace occupipe
