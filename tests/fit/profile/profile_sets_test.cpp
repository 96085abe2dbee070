// SPDX-License-Identifier: MIT
// diff and merge.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <stdexcept>

#include "core/error.h"
#include "core/files/files.h"
#include "fit/profile/pool.h"
#include "fit/profile/profile_diff.h"
#include "fit/profile/profile_merge.h"

namespace occupipe {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Estimate estimate(double value, double error) {
    Estimate e;
    e.value = value;
    e.std_error = error;
    return e;
}

GpuProfile profile(double cpi, double latency, double error = 0.002) {
    GpuProfile p;
    p.device.name = "A GPU";
    p.cores = 10;
    p.warp_size = 32;
    p.clock_hz = 1.5e9;
    p.subsystems = {{"alu", Scope::core}};
    InstructionTiming t;
    t.name = "fma.f32";
    t.subsystem = "alu";
    t.cpi = estimate(cpi, error * cpi);
    t.latency = estimate(latency, error * latency);
    t.source = Source::measured;
    p.instructions = {t};
    return p;
}

const ParameterDiff& find(const std::vector<ParameterDiff>& diffs, const std::string& name) {
    for (const ParameterDiff& d : diffs)
        if (d.name == name) return d;
    throw std::runtime_error("no " + name);
}

TEST(Diff, AProfileIsTheSameAsItself) {
    const auto diffs = diff_profiles(profile(0.25, 6), profile(0.25, 6));
    for (const ParameterDiff& d : diffs) EXPECT_EQ(d.verdict, DiffVerdict::same) << d.name;
    EXPECT_THAT(format_diff(diffs, false), HasSubstr("0 differ"));
}

TEST(Diff, ADifferenceMustExceedErrorsAndTheRelativeFloor) {
    const auto verdict = [](double latency, double error) {
        return find(diff_profiles(profile(0.25, 6, error), profile(0.25, latency, error)),
                    "fma.f32 Λ")
            .verdict;
    };
    EXPECT_EQ(verdict(6.3, 0.002), DiffVerdict::larger);  // 5 %, many errors
    EXPECT_EQ(verdict(5.7, 0.002), DiffVerdict::smaller);
    EXPECT_EQ(verdict(6.3, 0.05), DiffVerdict::same);     // 5 %, less than one error
    EXPECT_EQ(verdict(6.06, 0.0001), DiffVerdict::same);  // 1 %, many errors
}

TEST(Diff, WithoutErrorsFivePercentDecide) {
    GpuProfile a = profile(0.25, 6);
    GpuProfile b = profile(0.25, 6.2);
    a.instructions[0].latency->std_error.reset();
    EXPECT_EQ(find(diff_profiles(a, b), "fma.f32 Λ").verdict, DiffVerdict::same);
    b.instructions[0].latency->value = 6.4;
    EXPECT_EQ(find(diff_profiles(a, b), "fma.f32 Λ").verdict, DiffVerdict::larger);
}

TEST(Diff, MissingAndUndeterminedParametersAreSaidNotGuessed) {
    const GpuProfile a = profile(0.25, 6);
    GpuProfile b = profile(0.25, 6);
    b.instructions[0].name = "add.f32";
    auto diffs = diff_profiles(a, b);
    EXPECT_EQ(find(diffs, "fma.f32 λ").verdict, DiffVerdict::only_first);
    EXPECT_EQ(find(diffs, "add.f32 λ").verdict, DiffVerdict::only_second);
    b = profile(0.25, 6);
    b.instructions[0].latency = {
        .value = 8, .std_error = {}, .kind = Estimate::Kind::upper_bound, .note = ""};
    EXPECT_EQ(find(diff_profiles(a, b), "fma.f32 Λ").verdict, DiffVerdict::not_comparable);
    b.instructions[0].latency->value = 4;  // an upper bound below the other's value
    EXPECT_EQ(find(diff_profiles(a, b), "fma.f32 Λ").verdict, DiffVerdict::smaller);
}

Estimate bound(Estimate::Kind kind, double value) {
    return {.value = value, .std_error = {}, .kind = kind, .note = ""};
}

TEST(Diff, ABoundDiffersOnlyWhereItIsContradicted) {
    const auto verdict = [](const Estimate& first, const Estimate& second) {
        GpuProfile a = profile(0.25, 6);
        GpuProfile b = profile(0.25, 6);
        a.instructions[0].latency = first;
        b.instructions[0].latency = second;
        return find(diff_profiles(a, b), "fma.f32 Λ").verdict;
    };
    using enum Estimate::Kind;
    using enum DiffVerdict;
    EXPECT_EQ(verdict(bound(lower_bound, 10), estimate(400, 1)), not_comparable);
    EXPECT_EQ(verdict(estimate(400, 1), bound(lower_bound, 10)), not_comparable);
    EXPECT_EQ(verdict(bound(lower_bound, 10), estimate(4, 0.1)), smaller);
    EXPECT_EQ(verdict(estimate(4, 0.1), bound(lower_bound, 10)), larger);
    EXPECT_EQ(verdict(bound(upper_bound, 10), estimate(400, 1)), larger);
    EXPECT_EQ(verdict(bound(upper_bound, 10), estimate(4, 0.1)), not_comparable);
    EXPECT_EQ(verdict(bound(upper_bound, 3), bound(lower_bound, 10)), larger);
    EXPECT_EQ(verdict(bound(lower_bound, 10), bound(upper_bound, 3)), smaller);
    EXPECT_EQ(verdict(bound(upper_bound, 3), bound(upper_bound, 10)), not_comparable);
    EXPECT_EQ(verdict(bound(undetermined, 3), estimate(400, 1)), not_comparable);
    // 10.9 may be 10 for all that its error says.
    EXPECT_EQ(verdict(bound(upper_bound, 10), estimate(10.9, 0.5)), not_comparable);
}

TEST(Diff, ScopeIsNoDifference) {
    const GpuProfile a = profile(0.25, 6);
    GpuProfile b = profile(1, 6);  // four copies, λ per scheduler
    b.issue.schedulers = 4;
    b.subsystems[0].scope = Scope::scheduler;
    EXPECT_EQ(find(diff_profiles(a, b), "fma.f32 λ").verdict, DiffVerdict::same);
}

TEST(Pool, EqualMachinesAverageAndUnequalOnesShowTheirSpread) {
    const std::vector same{estimate(10, 0.1), estimate(10.05, 0.1), estimate(9.95, 0.1)};
    const Pooled a = pool(same);
    EXPECT_NEAR(a.estimate.value, 10, 1e-9);
    EXPECT_NEAR(*a.estimate.std_error, 0.1 / std::sqrt(3), 1e-9);
    EXPECT_EQ(a.between, 0);
    const std::vector unequal{estimate(9, 0.01), estimate(10, 0.01), estimate(11, 0.01)};
    const Pooled b = pool(unequal);
    EXPECT_NEAR(b.between, 1, 0.01);
    EXPECT_NEAR(*b.estimate.std_error, 1 / std::sqrt(3), 0.01);
    EXPECT_EQ(b.lowest, 9);
    EXPECT_EQ(b.highest, 11);
}

TEST(Pool, BoundsGiveWayToValuesElseTheTightestStays) {
    const Estimate bound{
        .value = 12, .std_error = {}, .kind = Estimate::Kind::upper_bound, .note = ""};
    EXPECT_EQ(pool(std::vector{bound, estimate(10, 0.1)}).estimate.value, 10);
    Estimate tighter = bound;
    tighter.value = 11;
    const Pooled p = pool(std::vector{bound, tighter});
    EXPECT_EQ(p.estimate.value, 11);
    EXPECT_EQ(p.estimate.kind, Estimate::Kind::upper_bound);
}

TEST(Pool, TheTightestOfLowerBoundsIsTheGreatest) {
    using enum Estimate::Kind;
    const auto pooled = [](const Estimate& a, const Estimate& b) {
        return pool(std::vector{a, b}).estimate;
    };
    EXPECT_EQ(pooled(bound(lower_bound, 3), bound(lower_bound, 10)).value, 10);
    EXPECT_EQ(pooled(bound(lower_bound, 10), bound(upper_bound, 40)).kind, upper_bound);
    EXPECT_EQ(pooled(bound(undetermined, 1), bound(lower_bound, 10)).kind, lower_bound);
}

TEST(Pool, AnUnknownErrorIsNeverPooledToZero) {
    const Estimate plain{.value = 0.25};
    // Equal values say nothing of their error; 0.1, three times over, is not quite 0.1 on average.
    EXPECT_FALSE(pool(std::vector{plain, plain}).estimate.std_error);
    EXPECT_EQ(pool(std::vector(3, Estimate{.value = 0.1})).estimate, Estimate{.value = 0.1});
    EXPECT_FALSE(pool(std::vector{estimate(6, 0.1), Estimate{.value = 6}}).estimate.std_error);
    EXPECT_FALSE(pool(std::vector{estimate(6, 0), estimate(6, 0)}).estimate.std_error);
    EXPECT_FALSE(pool(std::vector{estimate(6, 0), bound(Estimate::Kind::upper_bound, 9)})
                     .estimate.std_error);
}

TEST(Pool, AnUnknownErrorDoesNotMakeAKnownOneSmaller) {
    // The mean's error is at least 1.5, of which the two values' distance shows nothing.
    const Pooled p = pool(std::vector{estimate(6, 3), Estimate{.value = 6.01}});
    EXPECT_NEAR(p.estimate.value, 6.005, 1e-9);
    EXPECT_FALSE(p.estimate.std_error);
    // Spread beyond the known errors is the mean's error.
    const Pooled apart = pool(std::vector{estimate(6, 0.1), Estimate{.value = 8}});
    EXPECT_NEAR(*apart.estimate.std_error, 1, 1e-9);
    const Pooled unknown = pool(std::vector{Estimate{.value = 6}, Estimate{.value = 8}});
    EXPECT_NEAR(*unknown.estimate.std_error, 1, 1e-9);
}

TEST(Pool, BoundsThatTheValueContradictsAreNamed) {
    using enum Estimate::Kind;
    using Places = std::vector<std::size_t>;
    const auto contradicting = [](const Estimate& a, const Estimate& b) {
        return pool(std::vector{a, b}).contradicting;
    };
    EXPECT_EQ(contradicting(estimate(6, 0.1), bound(lower_bound, 100)), Places{1});
    EXPECT_EQ(contradicting(bound(upper_bound, 1), estimate(6, 0.1)), Places{0});
    EXPECT_EQ(contradicting(bound(upper_bound, 1), Estimate{.value = 6}), Places{0});
    EXPECT_EQ(contradicting(bound(upper_bound, 1), bound(lower_bound, 100)), Places{1});
    EXPECT_EQ(contradicting(estimate(6, 0.1), bound(upper_bound, 5.8)), Places{});
    EXPECT_EQ(contradicting(estimate(6, 0.1), bound(lower_bound, 1)), Places{});
    EXPECT_EQ(contradicting(estimate(6, 0.1), bound(undetermined, 100)), Places{});
    EXPECT_EQ(contradicting(bound(upper_bound, 100), bound(lower_bound, 1)), Places{});
    // Between two machines' values: it excludes one of them.
    EXPECT_EQ(pool(std::vector{estimate(6, 0.1), estimate(200, 1), bound(lower_bound, 100)})
                  .contradicting,
              Places{2});
}

TEST(Pool, IntervalsOfRandomMachinesCoverTheirCommonMean) {
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    int inside = 0;
    for (int trial = 0; trial < 500; ++trial) {
        std::vector<Estimate> machines;
        for (int m = 0; m < 10; ++m) {
            const double machine = 10 + 0.2 * normal(random);
            machines.push_back(estimate(machine + 0.1 * normal(random), 0.1));
        }
        const Pooled p = pool(machines);
        inside += std::abs(p.estimate.value - 10) <= 1.96 * *p.estimate.std_error;
    }
    EXPECT_GE(inside, 450);  // ten machines estimate their own spread: somewhat below 95 %
}

TEST(Merge, CombinesMachinesOfOneModel) {
    const std::vector<NamedProfile> machines{{"a.yaml", "xxh128:1", profile(0.25, 6)},
                                             {"b.yaml", "xxh128:2", profile(0.26, 6.2)}};
    const GpuProfile merged = merge_profiles(machines).profile;
    EXPECT_NEAR(merged.instructions[0].cpi.value, 0.255, 1e-3);
    EXPECT_THAT(merged.instructions[0].note, HasSubstr("2 machines"));
    EXPECT_THAT(format_profile(merged), HasSubstr("b.yaml"));
    EXPECT_EQ(parse_profile(format_profile(merged), "merged.yaml"), merged);
}

// A profile with everything beside λ and Λ.
GpuProfile rich(double factor) {
    GpuProfile p = profile(0.25, 6);
    ParameterTable table{"shape_n", "", {}};
    for (const double n : {8.0, 16.0})
        table.rows.push_back({n, estimate(n * factor, 0.01), estimate(20 + n * factor, 0.1)});
    p.instructions[0].tables = {table};
    p.instructions[0].latency_growth = estimate(0.5 * factor, 0.001);
    p.memory_levels = {{"ld.global.s32", estimate(33 * factor, 0.1), 4096, 65536, 0.9},
                       {"ld.global.s32", estimate(270 * factor, 1), 131072, 1048576, {}}};
    p.overheads.launch_seconds = estimate(2e-6 * factor, 1e-9);
    p.overheads.awaited_launch_seconds = estimate(9e-6 * factor, 1e-9);
    p.overheads.graph_launch_seconds = estimate(1e-6 * factor, 1e-9);
    return p;
}

TEST(Diff, PolicyAndSelectionAreComparedToo) {
    GpuProfile first = profile(0.25, 6);
    GpuProfile second = first;
    first.issue.policy = Policy::lrr;
    second.issue.policy = Policy::gto;
    first.issue.select = Select::warp;
    const auto diffs = diff_profiles(first, second);
    EXPECT_EQ(find(diffs, "issue policy").verdict, DiffVerdict::different);
    EXPECT_EQ(find(diffs, "issue select").verdict, DiffVerdict::only_first);
    EXPECT_THAT(format_diff(diffs, false), HasSubstr("issue policy: lrr -> gto: different"));
    EXPECT_THAT(format_diff(diffs, false), HasSubstr("issue select: warp -> none"));
}

TEST(Diff, TablesLevelsAndOverheadsAreComparedToo) {
    const auto same = diff_profiles(rich(1), rich(1));
    for (const ParameterDiff& d : same) EXPECT_EQ(d.verdict, DiffVerdict::same) << d.name;
    const auto diffs = diff_profiles(rich(1), rich(1.2));
    for (const char* name :
         {"fma.f32 at shape_n 16 λ", "ld.global.s32 level 2 Λ", "launch [s]", "fma.f32 h"})
        EXPECT_EQ(find(diffs, name).verdict, DiffVerdict::larger) << name;
    EXPECT_EQ(find(diff_profiles(rich(1), profile(0.25, 6)), "launch [s]").verdict,
              DiffVerdict::only_first);
}

TEST(Merge, PoolsTablesLevelsAndOverheads) {
    const std::vector<NamedProfile> machines{{"a.yaml", "xxh128:1", rich(1)},
                                             {"b.yaml", "xxh128:2", rich(1.1)}};
    const GpuProfile merged = merge_profiles(machines).profile;
    EXPECT_NEAR(merged.instructions[0].tables.at(0).rows.at(1).cpi->value, 16.8, 0.01);
    EXPECT_NEAR(merged.instructions[0].latency_growth->value, 0.525, 0.01);
    ASSERT_EQ(merged.memory_levels.size(), 2U);
    EXPECT_NEAR(merged.memory_levels[1].latency.value, 283.5, 1);
    EXPECT_NEAR(merged.overheads.launch_seconds->value, 2.1e-6, 1e-8);
}

TEST(Diff, TheSameBoundTwiceIsNoLine) {
    GpuProfile first = profile(0.25, 6);
    first.instructions.front().latency = Estimate{.value = 35, .kind = Estimate::Kind::upper_bound};
    GpuProfile second = first;
    EXPECT_EQ(format_diff(diff_profiles(first, second), false).find("not comparable\n"),
              format_diff(diff_profiles(first, second), false).rfind("not comparable\n"));
    EXPECT_THAT(format_diff(diff_profiles(first, second), false), HasSubstr("1 not comparable\n"));
    EXPECT_THAT(format_diff(diff_profiles(first, second), true), HasSubstr("35: not comparable\n"));
    second.instructions.front().latency->value = 36;
    EXPECT_THAT(format_diff(diff_profiles(first, second), false),
                HasSubstr("36: not comparable\n"));
}

// Shares may be 0, of which no change is a relative one.
TEST(Diff, LimitsAndContentionAreComparedToo) {
    GpuProfile first = profile(0.25, 6);
    GpuProfile second = first;
    first.limits.warps = 64;
    second.limits.warps = 48;
    first.subsystems[0].contention = estimate(0, 0.01);
    second.subsystems[0].contention = estimate(0.5, 0.01);
    const auto diffs = diff_profiles(first, second);
    EXPECT_EQ(find(diffs, "limits warps").verdict, DiffVerdict::smaller);
    EXPECT_EQ(find(diffs, "alu contention").verdict, DiffVerdict::larger);
    EXPECT_THAT(format_diff(diffs, false),
                HasSubstr("-> 0.500 ± 0.010: larger (+35.4 standard errors)\n"));
    second.subsystems[0].contention = estimate(0, 0.02);
    EXPECT_EQ(find(diff_profiles(first, second), "alu contention").verdict, DiffVerdict::same);
}

TEST(Merge, ContentionIsPooledOverMachinesOfOneScope) {
    std::vector<NamedProfile> machines;
    for (const double share : {0.2, 0.3, 0.9}) {
        machines.push_back({"m.yaml", "", profile(0.25, 6)});
        machines.back().profile.subsystems[0].contention = estimate(share, 0.01);
    }
    machines[2].profile.subsystems[0].scope = Scope::scheduler;  // a share of another λ
    EXPECT_NEAR(merge_profiles(machines).profile.subsystems[0].contention->value, 0.25, 1e-9);
}

TEST(Merge, ScopesThatDifferAreNotMixedUp) {
    std::vector<NamedProfile> machines{{"a.yaml", "", profile(1, 6)},
                                       {"b.yaml", "", profile(0.25, 6)}};
    for (NamedProfile& m : machines) m.profile.issue.schedulers = 4;
    machines[0].profile.subsystems[0].scope = Scope::scheduler;
    const GpuProfile merged = merge_profiles(machines).profile;
    EXPECT_NEAR(merged.instructions[0].cpi.value, 1, 0.01);  // per scheduler
    EXPECT_THAT(merged.instructions[0].note, HasSubstr("another scope"));
}

// What the second alone has came with its λ and the first one's scope: λ per core was k times off.
TEST(Merge, WhatOneMachineAloneHasFollowsTheMergedScope) {
    std::vector<NamedProfile> machines{{"a.yaml", "", profile(0.25, 6)},
                                       {"b.yaml", "", profile(0.25, 6)}};
    for (NamedProfile& m : machines) m.profile.issue.schedulers = 4;
    machines[0].profile.subsystems[0].scope = Scope::scheduler;
    machines[1].profile.instructions[0].name = "mul.s32";
    const GpuProfile merged = merge_profiles(machines).profile;
    ASSERT_EQ(merged.instructions.size(), 2);
    EXPECT_NEAR(merged.instructions[0].cpi.value, 0.25, 0.001);
    EXPECT_NEAR(merged.instructions[1].cpi.value, 1, 0.001);  // per scheduler: 0.25 per core
    EXPECT_THAT(merged.instructions[1].note, HasSubstr("another scope"));
}

// The first machine's scope was taken, also where it did not know it.
TEST(Merge, AScopeThatOneMachineKnowsIsNotLost) {
    for (const std::size_t knows : {0U, 1U}) {
        std::vector<NamedProfile> machines{{"a.yaml", "", profile(0.25, 6)},
                                           {"b.yaml", "", profile(0.25, 6.1)}};
        for (NamedProfile& m : machines) {
            m.profile.issue.schedulers = 4;
            m.profile.subsystems[0].scope.reset();
        }
        GpuProfile& known = machines[knows].profile;
        known.subsystems[0].scope = Scope::scheduler;
        known.instructions[0].cpi = known.instructions[0].cpi.times(4);
        const GpuProfile merged = merge_profiles(machines).profile;
        EXPECT_EQ(merged.subsystems[0].scope, Scope::scheduler) << knows;
        EXPECT_NEAR(merged.instructions[0].cpi.value, 1, 0.01) << knows;
        EXPECT_THAT(merged.instructions[0].note, Not(HasSubstr("another scope"))) << knows;
    }
}

// A quick run shows no number of schedulers, a full one shows four: the two were refused.
TEST(Merge, WhereNoSchedulersShowTheOthersNumberHolds) {
    for (const std::size_t knows : {0U, 1U}) {
        std::vector<NamedProfile> machines{{"a.yaml", "", profile(0.25, 6)},
                                           {"b.yaml", "", profile(0.25, 6.1)}};
        machines[1 - knows].profile.subsystems[0].scope.reset();
        GpuProfile& known = machines[knows].profile;
        known.issue.schedulers = 4;
        known.subsystems[0].scope = Scope::scheduler;
        known.instructions[0].cpi = known.instructions[0].cpi.times(4);
        const GpuProfile merged = merge_profiles(machines).profile;
        EXPECT_EQ(merged.issue.schedulers, 4) << knows;
        EXPECT_EQ(merged.subsystems[0].scope, Scope::scheduler) << knows;
        EXPECT_NEAR(merged.instructions[0].cpi.value, 1, 0.01) << knows;
    }
}

TEST(Merge, RefusesDifferentDevicesAndTooFew) {
    std::vector<NamedProfile> machines{{"a.yaml", "", profile(0.25, 6)},
                                       {"b.yaml", "", profile(0.26, 6.2)}};
    machines[1].profile.device.name = "Another GPU";
    try {
        merge_profiles(machines);
        FAIL() << "merged two models";
    } catch (const InputError& e) {
        EXPECT_THAT(e.what(), HasSubstr("b.yaml: device.name"));
    }
    machines[1] = machines[0];
    machines[1].profile.cores = 11;
    EXPECT_THROW(merge_profiles(machines), InputError);
    machines.pop_back();
    EXPECT_THROW(merge_profiles(machines), InputError);
}

TEST(Merge, AContradictedBoundIsNamedInTheProfile) {
    std::vector<NamedProfile> machines{{"a.yaml", "", profile(0.25, 6)},
                                       {"b.yaml", "", profile(0.26, 6)}};
    machines[1].profile.instructions[0].latency = bound(Estimate::Kind::lower_bound, 100);
    const MergedProfile merged = merge_profiles(machines);
    ASSERT_EQ(merged.contradictions.size(), 1U);
    EXPECT_THAT(merged.contradictions[0],
                HasSubstr("instructions.fma.f32: b.yaml has latency ≥ 100"));
    EXPECT_THAT(merged.profile.instructions[0].note, HasSubstr("b.yaml has latency ≥ 100"));
    EXPECT_THAT(format_profile(merged.profile), HasSubstr("contradictions:"));
    machines[1].profile.instructions[0].latency = bound(Estimate::Kind::lower_bound, 5);
    EXPECT_TRUE(merge_profiles(machines).contradictions.empty());
}

void expect_counted_twice(const std::vector<NamedProfile>& machines) {
    try {
        merge_profiles(machines);
        ADD_FAILURE() << "merged one machine with itself";
    } catch (const InputError& e) {
        EXPECT_THAT(e.what(), HasSubstr("b.yaml"));
        EXPECT_THAT(e.what(), HasSubstr("a.yaml"));
        EXPECT_THAT(e.what(), HasSubstr("counts twice"));
    }
}

TEST(Merge, RefusesOneMachineTwice) {
    expect_counted_twice({{"a.yaml", "", profile(0.25, 6)}, {"b.yaml", "", profile(0.25, 6)}});
    expect_counted_twice(
        {{"a.yaml", "xxh128:1", profile(0.25, 6)}, {"b.yaml", "xxh128:1", profile(0.26, 6)}});
    // Two fits of one measurement.
    const auto measured = [](GpuProfile p, const std::string& hash) {
        Annotation text;
        text.text = hash;
        Annotation file;
        file.entries.emplace_back("hash", text);
        Annotation list;
        list.items.push_back(file);
        p.provenance.entries.emplace_back("measurements", list);
        return p;
    };
    const std::vector<NamedProfile> fits{{"a.yaml", "xxh128:1", measured(profile(1, 6), "m")},
                                         {"b.yaml", "xxh128:2", measured(profile(2, 6), "m")}};
    expect_counted_twice(fits);
    // A merged profile and one of those that it was merged from.
    const std::vector<NamedProfile> nodes{{"b.yaml", "xxh128:1", profile(1, 6)},
                                          {"c.yaml", "xxh128:2", profile(2, 6)}};
    expect_counted_twice({{"a.yaml", "xxh128:3", merge_profiles(nodes).profile}, nodes[0]});
}

}  // namespace
}  // namespace occupipe
