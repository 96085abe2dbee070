// SPDX-License-Identifier: MIT
// Small parts: shares of warps, accuracy, parallel loops, model rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "analysis/measured/accuracy.h"
#include "core/parallel.h"
#include "sim/machine/machine.h"
#include "sim/models/registry.h"
#include "tests/sim/build.h"

namespace occupipe::test {
namespace {

std::vector<int> assigned(const std::vector<double>& shares, int warps) {
    Kernel kernel;
    for (const double share : shares) kernel.warps.push_back({share, {instruction("a", "op")}});
    return sim::assign_programs(kernel, warps);
}

TEST(Shares, GoByLargestRemaindersInOrder) {
    EXPECT_EQ(assigned({1}, 3), (std::vector{0, 0, 0}));
    EXPECT_EQ(assigned({0.5, 0.5}, 4), (std::vector{0, 0, 1, 1}));
    EXPECT_EQ(assigned({0.5, 0.5}, 3), (std::vector{0, 0, 1}));          // a tie: the first
    EXPECT_EQ(assigned({0.25, 0.75}, 2), (std::vector{0, 1}));           // 0.5 and 1.5
    EXPECT_EQ(assigned({0.2, 0.2, 0.6}, 4), (std::vector{0, 1, 2, 2}));  // 0.8, 0.8 and 2.4
    EXPECT_EQ(assigned({0.1, 0.9}, 1), (std::vector{1}));
}

TEST(Shares, OfThirdsAndTenthsAreNotLostToRounding) {
    EXPECT_EQ(assigned({1.0 / 3, 1.0 / 3, 1.0 / 3}, 6), (std::vector{0, 0, 1, 1, 2, 2}));
    const auto tenths = assigned({0.1, 0.9}, 30);
    EXPECT_EQ(std::count(tenths.begin(), tenths.end(), 0), 3);
}

TEST(Accuracy, IsAMeanOfPercentages) {
    const std::vector<analysis::AccuracyPoint> curve = {{1, 2, 1}, {2, 4, 5}, {3, 10, 10}};
    EXPECT_DOUBLE_EQ(*analysis::mape(curve), (50.0 + 25 + 0) / 3);
    EXPECT_EQ(analysis::mape({}), std::nullopt);
}

TEST(Accuracy, OfShapeForgivesAStraightLine) {
    std::vector<analysis::AccuracyPoint> curve;
    for (int w = 1; w <= 8; ++w)
        curve.push_back({static_cast<double>(w), 10.0, 10.0 + 3 + 0.5 * w});
    EXPECT_NEAR(*analysis::mape_shape(curve), 0, 1e-12);
    curve[3].predicted += 1;
    EXPECT_GT(*analysis::mape_shape(curve), 1);
}

TEST(Accuracy, OfShapeNeedsThreeOccupancies) {
    const std::vector<analysis::AccuracyPoint> curve = {{1, 2, 1}, {1, 2, 1}, {2, 4, 5}};
    EXPECT_EQ(analysis::mape_shape(curve), std::nullopt);
}

TEST(ParallelFor, VisitsEachIndexOnceWhateverTheThreads) {
    for (const unsigned threads : {0U, 1U, 2U, 5U}) {
        std::vector<int> visits(1000);
        parallel_for(
            visits.size(), [&](std::size_t i) { ++visits[i]; }, threads);
        EXPECT_EQ(visits, std::vector<int>(1000, 1));
    }
}

TEST(ParallelFor, ThrowsTheFirstFailure) {
    const auto run = [] {
        parallel_for(
            100,
            [](std::size_t i) {
                if (i % 7 == 3) throw std::runtime_error(std::to_string(i));
            },
            3);
    };
    try {
        run();
        FAIL();
    } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "3");
    }
}

TEST(Models, HaveUniqueNamesAndCitations) {
    for (const Model& model : models()) {
        EXPECT_EQ(find_model(model.name).name, model.name);
        EXPECT_EQ(&find_model(model.name), &model) << "twice in the table";
        EXPECT_FALSE(model.citation.empty());
    }
}

TEST(Models, TakeTheScopeOfASubsystemIntoAccount) {
    GpuProfile profile = gpu({{"op", 1, 4}}, std::nullopt, 4);
    profile.subsystems[0].scope = Scope::scheduler;
    const Prediction prediction =
        find_model("roofline")
            .predict(profile, chain("op", 10),
                     {.group_warps = 8, .concurrent_groups = 1, .groups = 1}, {});
    EXPECT_DOUBLE_EQ(prediction.warps_per_cycle, 0.4);
    EXPECT_EQ(prediction.limited_by, "alu");
}

TEST(Models, AddTheLaunchOverheadToTheTimeWhereTheProfileHasIt) {
    GpuProfile profile = gpu({{"op", 1, 4}});
    for (const char* name : {"pipeline", "roofline", "volkov"}) {
        const auto seconds = [&] {
            return find_model(name).predict(profile, chain("op", 1000), {}, {}).seconds;
        };
        profile.overheads.launch_seconds.reset();
        const double without = seconds();
        profile.overheads.launch_seconds = Estimate{.value = 2e-6};
        EXPECT_DOUBLE_EQ(seconds(), without + 2e-6) << name;
    }
}

TEST(Models, NameTheIssueLimitWhenItBinds) {
    const GpuProfile profile = gpu({{"a", 0.25, 4, "alu"}, {"b", 0.25, 4, "sfu"}}, 4);
    const Kernel pair = kernel({instruction("x", "a"), instruction("y", "b")});
    const Launch launch{.group_warps = 32, .concurrent_groups = 1, .groups = 100};
    for (const char* name : {"roofline", "volkov", "pipeline"})
        EXPECT_EQ(find_model(name).predict(profile, pair, launch, {}).limited_by, "issue") << name;
}

TEST(Models, NameLatencyWhenFewWarpsRun) {
    const GpuProfile profile = gpu({{"op", 0.25, 6}});
    const Launch launch{.group_warps = 2, .concurrent_groups = 1, .groups = 1};
    EXPECT_EQ(find_model("roofline").predict(profile, chain("op", 50), launch, {}).limited_by,
              "alu");
    for (const char* name : {"volkov", "pipeline"})
        EXPECT_EQ(find_model(name).predict(profile, chain("op", 50), launch, {}).limited_by,
                  "latency")
            << name;
}

}  // namespace
}  // namespace occupipe::test
