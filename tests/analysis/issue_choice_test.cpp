// SPDX-License-Identifier: MIT
// Mixes of a model device whose way of choosing is known.
#include "analysis/measured/issue_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/benchmark_kernel.h"
#include "sim/engine/simulate.h"
#include "tests/sim/build.h"

namespace occupipe::analysis {
namespace {

GpuProfile device() {
    return test::gpu({{"fma", 1, 6}, {"cos", 4, 18, "sfu"}, {"ld", 8, 60, "mem"}}, 2);
}

MeasurementFile measured(GpuProfile profile, Select select, Policy policy, int mixes,
                         const std::vector<int>& occupancies = {1, 2, 4, 8, 16, 32}) {
    profile.issue.select = select;
    profile.issue.policy = policy;
    MeasurementFile file;
    for (const char* second : {"cos", "ld"})
        for (const int beta : {1, 2, 4, 8}) {
            if (mixes-- <= 0) return file;
            for (const int warps : occupancies) {
                MeasurementRow row;
                row.subject = mix_name({"fma", beta, second});
                row.shape = {.group_warps = warps, .depth = std::int64_t{64} * (beta + 1)};
                row.cycles =
                    simulate(profile, measured_graph(chained_kernel(row.subject, 1), row.shape),
                             {warps, 1, 1})
                        .cycles;
                file.rows.push_back(row);
            }
        }
    return file;
}

TEST(IssueChoice, TheWayThatWasPlantedIsTheNearestAndADecisionIsNeverWrong) {
    int decided = 0;
    for (const Select select : {Select::subsystem, Select::warp})
        for (const Policy policy : {Policy::lrr, Policy::gto, Policy::oldest}) {
            const MeasurementFile file = measured(device(), select, policy, 8);
            const IssueChoice choice = choose_issue(device(), std::span(&file, 1));
            EXPECT_EQ(choice.mixes, 8);
            ASSERT_EQ(choice.ways.size(), 6u);
            EXPECT_LT(choice.ways.front().error, 1e-9) << choice.text;
            EXPECT_EQ(choice.select.value_or(select), select) << choice.text;
            EXPECT_EQ(choice.policy.value_or(policy), policy) << choice.text;
            decided += choice.select.has_value() + choice.policy.has_value();
        }
    EXPECT_GE(decided, 2);  // of 12: undecided is no error
}

TEST(IssueChoice, FewMixesDecideNothingAndTheProfileSaysSo) {
    const MeasurementFile few = measured(device(), Select::warp, Policy::gto, 3);
    GpuProfile profile = device();
    apply_issue_choice(profile, std::span(&few, 1));
    EXPECT_FALSE(profile.issue.select);
    EXPECT_FALSE(profile.issue.policy);
    // What the fit decided stays.
    GpuProfile decided = device();
    decided.issue.policy = Policy::oldest;
    const MeasurementFile many = measured(device(), Select::subsystem, Policy::lrr, 8);
    apply_issue_choice(decided, std::span(&many, 1));
    EXPECT_EQ(decided.issue.policy, Policy::oldest);
    EXPECT_THAT(decided.provenance.entries.back().value.text,
                ::testing::StartsWith("policy oldest by the stops of warps (choice_among_warps); "
                                      "by mixes alone: select "));
    ASSERT_EQ(profile.provenance.entries.back().key, "issue_choice");
    EXPECT_THAT(profile.provenance.entries.back().value.text, ::testing::HasSubstr("undecided"));
    const MeasurementFile none;
    EXPECT_THAT(choose_issue(device(), std::span(&none, 1)).text,
                ::testing::HasSubstr("no mix was measured"));
}

// Four schedulers with a unit each, where the fit had to assume one for the core.
TEST(IssueChoice, MixesTellTheScopeThatNoCurveShows) {
    const GpuProfile core =
        test::gpu({{"fma", 1, 6}, {"cos", 4, 18, "sfu"}, {"ld", 2, 30, "mem"}}, 4, 4);
    GpuProfile copies = core;
    copies.subsystems[0].scope = Scope::scheduler;
    copies.instructions[0].cpi.value = 4;
    const std::vector<std::string> names = {core.subsystems[0].name};
    for (const Scope planted : {Scope::scheduler, Scope::core}) {
        const MeasurementFile file =
            measured(planted == Scope::scheduler ? copies : core, Select::subsystem, Policy::lrr, 8,
                     {1, 2, 5, 6, 9, 10, 13});
        const auto choices = choose_scopes(core, std::span(&file, 1), names);
        ASSERT_EQ(choices.size(), 1u);
        EXPECT_EQ(choices[0].scope, planted) << choices[0].text;
        GpuProfile mended = core;
        apply_issue_choice(mended, std::span(&file, 1), names);
        EXPECT_EQ(mended.subsystems[0].scope, planted);
        EXPECT_DOUBLE_EQ(mended.instructions[0].cpi.value, planted == Scope::scheduler ? 4 : 1);
        EXPECT_TRUE(std::ranges::any_of(mended.provenance.entries, [](const auto& entry) {
            return entry.key == "scope_choice";
        }));
    }
    // Warps that spread evenly tell nothing, and that is said.
    const MeasurementFile even = measured(copies, Select::subsystem, Policy::lrr, 8, {32});
    const auto undecided = choose_scopes(core, std::span(&even, 1), names);
    EXPECT_FALSE(undecided.front().scope) << undecided.front().text;
    EXPECT_THAT(undecided.front().text, ::testing::HasSubstr("undecided"));
}

// `report` simulated all six ways again although the profile beside the measurements had chosen.
TEST(IssueChoice, WhatAProfileOfTheSameFilesChoseIsTaken) {
    const auto text = [](const char* words) {
        Annotation one;
        one.text = words;
        return one;
    };
    GpuProfile fitted =
        test::gpu({{"fma", 1, 6}, {"cos", 4, 18, "sfu"}, {"ld", 2, 30, "mem"}}, 4, 4);
    fitted.provenance.entries.emplace_back("tool", text("occupipe 1"));
    GpuProfile decided = fitted;
    decided.subsystems[0].scope = Scope::scheduler;
    decided.instructions[0].cpi.value = 4;
    decided.issue.select = Select::warp;
    decided.issue.policy = Policy::gto;
    MeasurementFile file;
    file.content_hash = "xxh128:1";
    Annotation one;
    one.entries.emplace_back("hash", text("xxh128:1"));
    Annotation measured;
    measured.items = {one};
    decided.provenance.entries.emplace_back("measurements", measured);
    const GpuProfile no_choice = decided;
    decided.provenance.entries.emplace_back("issue_choice", text("by eight mixes"));

    GpuProfile taken = fitted;
    ASSERT_TRUE(take_issue_choice(decided, std::span(&file, 1), taken));
    EXPECT_EQ(taken.issue.select, Select::warp);
    EXPECT_EQ(taken.issue.policy, Policy::gto);
    EXPECT_EQ(taken.subsystems[0].scope, Scope::scheduler);
    EXPECT_DOUBLE_EQ(taken.instructions[0].cpi.value, 4);
    EXPECT_EQ(taken.provenance.entries.back().value.text, "by eight mixes");

    const auto refused = [&](const GpuProfile& from, std::vector<MeasurementFile> files) {
        GpuProfile same = fitted;
        const bool took = take_issue_choice(from, files, same);
        return !took && same.issue.select == fitted.issue.select &&
               same.provenance == fitted.provenance;
    };
    MeasurementFile other = file;
    other.content_hash = "xxh128:2";
    EXPECT_TRUE(refused(decided, {other}));
    EXPECT_TRUE(refused(decided, {file, other}));
    EXPECT_TRUE(refused(no_choice, {file}));
    GpuProfile older = decided;
    older.provenance.entries.front().value.text = "occupipe 0";
    EXPECT_TRUE(refused(older, {file}));
}

}  // namespace
}  // namespace occupipe::analysis
