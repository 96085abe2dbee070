// SPDX-License-Identifier: MIT
#include "bench/kernel/sweep.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/error.h"
#include "tests/bench/harness/fake_backend.h"

namespace occupipe::bench {
namespace {

using testing::FakeBackend;

std::set<std::pair<int, int>> shapes_of(const SweepPlan& sweep, int chains) {
    std::set<std::pair<int, int>> shapes;
    for (const auto& point : sweep.points) {
        if (point.shape.chains == chains)
            shapes.emplace(point.shape.group_warps, point.shape.concurrent_groups);
    }
    return shapes;
}

TEST(Sweep, CoversEveryReachableShapeOfAGpu) {
    const FakeBackend backend;  // 8 warps, 4 groups, groups of up to 4 warps
    const auto sweep = make_sweep(backend, {.patterns = {"fma.f32"}});
    // Six warps, more than there are groups, are two groups of three.
    const std::set<std::pair<int, int>> expected = {{1, 1}, {1, 2}, {1, 3}, {1, 4}, {2, 1},
                                                    {2, 2}, {3, 2}, {2, 4}, {4, 1}, {4, 2}};
    EXPECT_EQ(shapes_of(sweep, 1), expected);
}

TEST(Sweep, GroupsOfManyBytesAreOnlyPlannedAsFarAsACoreHoldsThem) {
    FakeBackend backend;
    backend.facts_.limits.shared_memory_bytes = 3 * (16 << 10);
    int most = 0;
    for (const auto& point : make_sweep(backend, {.patterns = {"cp.async.bulk.8192"}}).points)
        most = std::max(most, point.shape.concurrent_groups);
    EXPECT_EQ(most, 4);  // of 8 KiB and what the system takes: five would fit, four is the limit
    backend.facts_.limits.shared_memory_bytes = 20 << 10;
    most = 0;
    for (const auto& point : make_sweep(backend, {.patterns = {"cp.async.bulk.8192"}}).points)
        most = std::max(most, point.shape.concurrent_groups);
    EXPECT_EQ(most, 2);
}

TEST(Sweep, QuickKeepsEveryReachableWarpCountUpToEight) {
    const FakeBackend backend;
    std::set<int> full;
    std::set<int> quick;
    for (const auto& p : make_sweep(backend, {.patterns = {"fma.f32"}}).points)
        full.insert(p.shape.warps());
    for (const auto& p : make_sweep(backend, {.patterns = {"fma.f32"}, .quick = true}).points)
        quick.insert(p.shape.warps());
    EXPECT_EQ(full, quick);
}

// Copies of a unit show where schedulers have different numbers of warps, and only beyond the
// ridge.
TEST(Sweep, SomeWarpCountsBeyondTheRidgeAreUneven) {
    FakeBackend backend;
    backend.facts_.limits.warps = 64;
    backend.facts_.limits.group_warps = 32;
    // Turing and Ampere hold 16 groups: 17 warps are one group there.
    for (const auto& [quick, groups] :
         {std::pair(false, 32), {true, 32}, {false, 16}, {true, 16}}) {
        backend.facts_.limits.groups = groups;
        std::set<int> uneven;
        for (const auto& p : make_sweep(backend, {.patterns = {"fma.f32"}, .quick = quick}).points)
            if (p.shape.warps() > 16 && p.shape.warps() % 4 != 0) uneven.insert(p.shape.warps());
        EXPECT_EQ(uneven, (std::set<int>{17, 22, 27, 34, 50}));
    }
}

// Where kernels can read the clock on their way: one run more, twice as deep, at every eighth warp.
TEST(Sweep, WindowsAreMeasuredWhereAUnitMayBeBusy) {
    FakeBackend backend;
    backend.facts_.limits.warps = 32;
    backend.facts_.limits.groups = 16;
    backend.facts_.limits.group_warps = 32;
    const auto windows = [&](const std::string& pattern, bool quick) {
        std::set<int> warps;
        for (const auto& p : make_sweep(backend, {.patterns = {pattern}, .quick = quick}).points) {
            if (!p.plan.checkpointed) continue;
            EXPECT_TRUE(warps.insert(p.shape.warps()).second) << p.name();
            EXPECT_EQ(p.shape.depth % (p.plan.unroll * (checkpoints + 1)), 0) << p.name();
            EXPECT_EQ(p.shape.chains, 1);
        }
        return warps;
    };
    EXPECT_TRUE(windows("fma.f32", true).empty());
    backend.facts_.checkpoints = true;
    EXPECT_EQ(windows("fma.f32", true), (std::set<int>{8, 16, 24, 32}));
    EXPECT_EQ(windows("fma.f32", false), (std::set<int>{8, 12, 16, 20, 24, 28, 32}));
    EXPECT_TRUE(windows("bar.sync", false).empty());
    EXPECT_TRUE(windows("mix(fma.f32*1,add.f32)", false).empty());
    std::set<std::string> names;
    for (const auto& p : make_sweep(backend, {.patterns = {"fma.f32"}}).points)
        EXPECT_TRUE(names.insert(p.name()).second) << p.name();
}

TEST(Sweep, EveryShapeHasThreeDepthsThatAreWholeLoopBodies) {
    const FakeBackend backend;
    std::map<std::string, std::set<std::int64_t>> depths;
    for (const auto& point : make_sweep(backend, {}).points) {
        EXPECT_EQ(point.shape.depth % point.plan.unroll, 0);
        MeasurementShape shape = point.shape;
        shape.depth = 0;
        PlannedPoint at{point.plan, shape};
        depths[at.name()].insert(point.shape.depth);
    }
    for (const auto& [name, set] : depths) EXPECT_EQ(set.size(), 3u) << name;
}

// Iterations that are proportional to steps cannot be told from them.
TEST(Sweep, OneDepthOfEachShapeHasAShorterLoopBody) {
    const FakeBackend backend;
    std::map<std::tuple<std::string, int, int>, std::map<std::int64_t, int>> bodies;
    for (const auto& point : make_sweep(backend, {}).points)
        if (point.shape.chains == 1 && point.plan.working_set_bytes == 0)
            bodies[{point.plan.subject(), point.shape.group_warps, point.shape.concurrent_groups}]
                  [point.shape.depth] = point.plan.unroll;
    int two = 0;
    for (const auto& [place, by_depth] : bodies) {
        ASSERT_EQ(by_depth.size(), 3u) << std::get<0>(place);
        const int first = by_depth.begin()->second;
        const int second = std::next(by_depth.begin())->second;
        EXPECT_EQ(by_depth.rbegin()->second, first) << std::get<0>(place);
        EXPECT_LE(second, first) << std::get<0>(place);
        two += second < first ? 1 : 0;
    }
    EXPECT_GT(two, static_cast<int>(bodies.size()) / 2);
    const auto body = [&](const char* subject) { return bodies[{subject, 1, 1}]; };
    EXPECT_EQ(body("fma.f32"), (std::map<std::int64_t, int>{{512, 256}, {1024, 64}, {2048, 256}}));
    EXPECT_EQ(body("mix(fma.f32*8,cos.approx.f32)").size(), 0u);  // full occupancy only
    for (const auto& [depth, unroll] : body("fma.f32.body512")) EXPECT_EQ(unroll, 512);
}

TEST(Sweep, AWorkingSetCurveGrowsFromAFirstLevelCacheToBeyondTheLast) {
    const FakeBackend backend;
    std::set<std::size_t> sizes;
    for (const auto& point :
         make_sweep(backend, {.patterns = {"ld.global.u32.working_set"}}).points) {
        EXPECT_EQ(point.shape.warps(), 1);
        EXPECT_NE(
            point.name().find(fmt::format("/working_set_bytes:{}/", point.plan.working_set_bytes)),
            std::string::npos)
            << point.name();
        sizes.insert(point.plan.working_set_bytes);
    }
    EXPECT_LE(*sizes.begin(), 16u << 10);
    EXPECT_EQ(*sizes.rbegin(), backend.facts().tables.beyond_caches);
    EXPECT_GE(sizes.size(), 12u);
}

// As on a GPU with a last cache of 50 MiB: quick's sizes grow fourfold, and only one of them would
// be clear of it.
TEST(Sweep, AQuickWorkingSetCurveHasThreeSizesInMemory) {
    FakeBackend backend;
    backend.facts_.tables.cache_bytes = 50u << 20;
    backend.facts_.tables.beyond_caches = 256u << 20;
    const auto in_memory = [&] {
        std::set<std::size_t> sizes;
        for (const auto& point :
             make_sweep(backend, {.patterns = {"ld.global.u32.working_set"}, .quick = true})
                 .points) {
            if (point.plan.working_set_bytes >= 100u << 20)
                sizes.insert(point.plan.working_set_bytes >> 20);
        }
        return sizes;
    };
    EXPECT_EQ(in_memory(), (std::set<std::size_t>{128, 256, 512}));
    backend.facts_.global_memory_bytes = std::int64_t{2} << 30;
    EXPECT_EQ(in_memory(), (std::set<std::size_t>{128, 256}));
}

TEST(Sweep, AGroupThatUsesItsNeighboursMemoryIsAloneOnItsCore) {
    const FakeBackend backend;
    int points = 0;
    for (const auto& point : make_sweep(backend, {.patterns = {"*.shared.cluster.*"}}).points) {
        EXPECT_EQ(point.shape.concurrent_groups, 1) << point.name();
        ++points;
    }
    EXPECT_GT(points, 0);
}

// A launch of a large GPU at full occupancy: 8,448 warps share a table of 2 GiB. Together they come
// to no line twice, the untimed pass included.
TEST(Sweep, AWalkBeyondTheCachesNeverComesBackWithinALaunch) {
    FakeBackend backend;
    backend.facts_.cores = 132;
    backend.facts_.limits.warps = 64;
    backend.facts_.limits.groups = 32;
    backend.facts_.limits.group_warps = 32;
    backend.facts_.tables = {.beyond_caches = std::size_t{2} << 30, .cache_bytes = 50u << 20};
    std::map<std::string, std::set<std::int64_t>> depths;  // by subject and shape
    for (const char* pattern :
         {"ld.global.u32", "ld.global.u64", "ld.global.v2.u64", "ld.global.f32", "ld.global.v2.f32",
          "ld.global.v4.f32", "st.global.f32", "st.global.v4.f32",
          "mix(fma.f32*4,ld.global.f32)"}) {
        for (const auto& point : make_sweep(backend, {.patterns = {pattern}}).points) {
            const Row& row = *walking_row(point.plan);
            const std::int64_t iterations = point.shape.depth / point.plan.unroll;
            const int of_row = point.plan.second ? point.plan.unroll / 5 : point.plan.unroll;
            const std::int64_t lines =
                (iterations + 2) * of_row * point.plan.chains * point.shape.warps() * 132;
            EXPECT_LE(lines * row.spread * 128, std::int64_t{2} << 30) << point.name();
            depths[fmt::format("{} {}x{}", pattern, point.shape.group_warps,
                               point.shape.concurrent_groups)]
                .insert(point.shape.depth);
        }
    }
    EXPECT_GT(depths.size(), 9u * 20);
    for (const auto& [shape, of_shape] : depths) {
        EXPECT_EQ(of_shape.size(), 3u) << shape;
        EXPECT_GE(*of_shape.rbegin(), 3 * *of_shape.begin()) << shape;
    }
}

TEST(Sweep, GroupsOfAWarpGroupInstructionAreMultiplesOfFourWarps) {
    const FakeBackend backend;
    int points = 0;
    for (const auto& point : make_sweep(backend, {.patterns = {"wgmma.*"}}).points) {
        EXPECT_EQ(point.shape.group_warps % 4, 0);
        EXPECT_EQ(point.shape.chains, 1);
        ++points;
    }
    EXPECT_GT(points, 0);
}

TEST(Sweep, WarpsThatTheRegistersDoNotHoldAreLeftOut) {
    FakeBackend backend;
    backend.facts_.limits = {.warps = 64, .groups = 32, .group_warps = 32, .registers = 65536};
    std::map<std::string, int> most;
    for (const auto& point : make_sweep(backend, {.patterns = {"wgmma.*"}}).points)
        most[point.plan.subject()] = std::max(most[point.plan.subject()], point.shape.warps());
    // 128 accumulators and some: 160 registers for each of 32 lanes; 4 accumulators: 40.
    EXPECT_EQ(most["wgmma.m64n256k16.f32.f16"], 12);
    EXPECT_EQ(most["wgmma.m64n8k16.f32.f16"], 48);
}

// A mix is measured at full occupancy: of 48 registers a core holds one group of 32 warps, not two.
TEST(Sweep, AMixHasAsManyGroupsAsTheRegistersOfBothHold) {
    FakeBackend backend;
    backend.facts_.limits = {.warps = 64, .groups = 32, .group_warps = 32, .registers = 65536};
    const auto groups = [&](const std::string& mix) {
        return make_sweep(backend, {.patterns = {mix}}).points.front().shape.concurrent_groups;
    };
    EXPECT_EQ(groups("mix(fma.f32*1,ld.global.v4.f32)"), 1);
    EXPECT_EQ(groups("mix(fma.f32*1,ld.global.f32)"), 2);
}

TEST(Sweep, ACpuSweepsChainsAtOneWarp) {
    FakeBackend backend;
    backend.facts_.cpu = true;
    std::set<int> chains;
    for (const auto& point : make_sweep(backend, {.patterns = {"fma.f32"}}).points) {
        EXPECT_EQ(point.shape.warps(), 1);
        chains.insert(point.shape.chains);
    }
    EXPECT_EQ(*chains.rbegin(), 10);
    EXPECT_EQ(chains.size(), 10u);
}

TEST(Sweep, AskedMixesNeedNotBeInTheDefaults) {
    const FakeBackend backend;
    const auto sweep = make_sweep(backend, {.patterns = {"mix(add.f32*7,fma.f32)"}});
    ASSERT_EQ(sweep.points.size(), 3u);
    EXPECT_EQ(sweep.points.front().plan.subject(), "mix(add.f32*7,fma.f32)");
    EXPECT_EQ(sweep.points.front().shape.depth % 8, 0);
    EXPECT_EQ(sweep.points.front().shape.warps(), 8);  // full occupancy
}

// A limit of issue shows where two fast instructions of different units go one for one, and needs
// two pairs that agree.
TEST(Sweep, FastInstructionsOfTwoUnitsAreMixedOneForOneByDefault) {
    const FakeBackend backend;
    std::set<std::string> mixes;
    for (const auto& point : make_sweep(backend, {}).points) mixes.insert(point.plan.subject());
    EXPECT_TRUE(mixes.contains("mix(fma.f32*1,add.s32)"));
    EXPECT_TRUE(mixes.contains("mix(fma.f32*1,xor.b32)"));
}

TEST(Sweep, AMixOfDifferentTypesHasAChainOfEach) {
    const FakeBackend backend;
    const auto sweep = make_sweep(backend, {.patterns = {"mix(add.f32*2,add.f64)"}});
    ASSERT_EQ(sweep.points.size(), 3u);
    EXPECT_TRUE(sweep.points.front().plan.separate_chains());
    EXPECT_FALSE(make_sweep(backend, {.patterns = {"mix(add.f32*2,mul.f32)"}})
                     .points.front()
                     .plan.separate_chains());
}

TEST(Sweep, AMixWithAnInstructionThatWaitsIsSkippedWithTheReason) {
    const FakeBackend backend;
    for (const char* mix : {"mix(add.f32*2,bar.sync)", "mix(ld.shared.u32*2,add.f32)"}) {
        const auto sweep = make_sweep(backend, {.patterns = {mix}});
        EXPECT_TRUE(sweep.points.empty());
        ASSERT_EQ(sweep.skipped.size(), 1u);
        EXPECT_FALSE(sweep.skipped[0].reason.empty());
    }
}

TEST(Sweep, PairsMixEveryTwoOfTheChosenOnce) {
    const FakeBackend backend;
    const auto sweep =
        make_sweep(backend, {.patterns = {"add.f32", "mul.s32", "ld.shared.u32"}, .pairs = true});
    std::set<std::string> mixes;
    for (const auto& point : sweep.points) {
        if (point.plan.second) mixes.insert(point.plan.subject());
    }
    std::set<std::string> expected;
    for (const char* beta : {"1", "2", "4"})
        for (const auto& [first, second] :
             {std::pair{"add.f32", "mul.s32"}, std::pair{"add.f32", "ld.shared.u32"},
              std::pair{"mul.s32", "ld.shared.u32"}})
            expected.insert(std::string("mix(") + first + "*" + beta + "," + second + ")");
    EXPECT_EQ(mixes, expected);
    EXPECT_TRUE(sweep.skipped.empty());
}

TEST(Sweep, UnsupportedRowsAreListedWithTheirReason) {
    FakeBackend backend;
    backend.refuse = [](const Row& row) {
        return row.type == DataType::f64 ? std::optional<std::string>("no double precision")
                                         : std::nullopt;
    };
    const auto sweep = make_sweep(backend, {.patterns = {"add.*"}});
    ASSERT_EQ(sweep.skipped.size(), 1u);
    EXPECT_EQ(sweep.skipped[0].subject, "add.f64");
    for (const auto& point : sweep.points) EXPECT_NE(point.plan.subject(), "add.f64");
}

TEST(Sweep, APatternThatMatchesNothingIsBadInput) {
    const FakeBackend backend;
    EXPECT_THROW(make_sweep(backend, {.patterns = {"fma.f23"}}), InputError);
}

TEST(Sweep, ADeviceThatDoesNotTellItsLimitsIsBadInput) {
    FakeBackend backend;
    backend.facts_.limits.warps.reset();
    EXPECT_THROW(make_sweep(backend, {.patterns = {"fma.f32"}}), InputError);
}

TEST(SplitPatterns, KeepsTheCommaInsideAMix) {
    EXPECT_EQ(split_patterns("fma.*,mix(fma.f32*8,cos.approx.f32),,add.s32"),
              (std::vector<std::string>{"fma.*", "mix(fma.f32*8,cos.approx.f32)", "add.s32"}));
    EXPECT_TRUE(split_patterns("").empty());
}

// Every warp that the core holds; points beside the curve, which stays as it is without them.
TEST(Sweep, RatesAddPointsAtFullOccupancy) {
    const FakeBackend backend;  // 8 warps, 4 groups, groups of up to 4 warps
    const auto sweep = make_sweep(backend, {.patterns = {"fma.f32", "mul.f32"}, .rates = true});
    std::set<std::int64_t> depths;
    std::size_t others = 0;
    for (const PlannedPoint& point : sweep.points) {
        if (!point.full) {
            ++others;
            continue;
        }
        EXPECT_EQ(point.plan.subject(), "fma.f32");
        EXPECT_EQ(point.shape.warps(), 8);
        EXPECT_EQ(point.shape.chains, 4);
        EXPECT_TRUE(point.name().starts_with("fma.f32/full:1/group_warps:4/")) << point.name();
        depths.insert(point.shape.depth);
    }
    EXPECT_GE(depths.size(), 2U);  // a slope needs them
    EXPECT_EQ(others, make_sweep(backend, {.patterns = {"fma.f32", "mul.f32"}}).points.size());
    EXPECT_EQ(only_point(sweep, sweep.points.front().name()).points.size(), 1U);
}

TEST(Sweep, IntensityMixesEveryMultiplyAddWithEveryStream) {
    const FakeBackend backend;
    const auto sweep = make_sweep(backend, {.intensity = true});
    std::map<std::pair<std::string, std::string>, std::set<int>> betas;
    std::set<std::string> full;
    for (const PlannedPoint& point : sweep.points) {
        if (point.plan.second)
            betas[{std::string(point.plan.first->id), std::string(point.plan.second->id)}].insert(
                point.plan.beta);
        if (point.full) full.insert(point.plan.subject());
    }
    for (const char* operation : {"fma.f32", "fma.f64", "mad.s32", "fma.f16x2"}) {
        EXPECT_TRUE(full.contains(operation)) << operation;
        const auto& found = betas[{operation, "ld.global.f32"}];
        EXPECT_EQ(*found.begin(), 1) << operation;
        EXPECT_EQ(*found.rbegin(), 64) << operation;
    }
    EXPECT_TRUE(full.contains("ld.global.f32"));
    EXPECT_THROW(make_sweep(backend, {.patterns = {"fma.f32"}, .intensity = true}), InputError);
}

}  // namespace
}  // namespace occupipe::bench
