// SPDX-License-Identifier: MIT
#include "fit/structure/scopes.h"

#include <gtest/gtest.h>

#include <string>

#include "fit/profile/build_profile.h"
#include "fit/structure/class_split.h"

namespace occupipe {
namespace {

SubjectReport curve(const std::string& subsystem, int copies, std::vector<int> visible) {
    SubjectReport s;
    s.subsystem = subsystem;
    s.fit.ok = true;
    s.fit.schedulers = copies;
    s.fit.visible_copies = std::move(visible);
    return s;
}

FitOutcome outcome(std::vector<SubjectReport> subjects) {
    FitOutcome out;
    out.profile.subsystems = {{.name = "alu"}, {.name = "sfu"}};
    out.subjects = std::move(subjects);
    return out;
}

// As div.f32 of the README's simulated GTX 1060, whose law with ports was a little better by
// chance: the profile said eight schedulers.
TEST(Scopes, PortsWhoseLimitWasDroppedCountNoSchedulers) {
    FitOutcome out = outcome({curve("alu", 1, {4, 8}), curve("alu", 1, {4, 8})});
    out.subjects[0].fit.sharing_schedulers = 8;
    out.subjects[0].fit.port_limit = Estimate{.value = 1.49, .std_error = 0.01};
    out.subjects[1].fit.reached_cpi = 0.252;
    set_issue_limit(out);
    EXPECT_FALSE(out.profile.issue.limit);
    set_scopes(out);
    EXPECT_EQ(out.profile.issue.schedulers, 1);
}

TEST(Scopes, OneOfSeveralCurvesOfASubsystemCountsNoSchedulers) {
    FitOutcome out = outcome({curve("alu", 8, {8}), curve("alu", 1, {8}), curve("alu", 1, {4, 8})});
    set_scopes(out);
    EXPECT_EQ(out.profile.issue.schedulers, 1);
}

TEST(Scopes, MostCurvesOfASubsystemCountThem) {
    FitOutcome out = outcome(
        {curve("alu", 4, {4}), curve("alu", 4, {4}), curve("alu", 1, {4}), curve("sfu", 1, {4})});
    set_scopes(out);
    EXPECT_EQ(out.profile.issue.schedulers, 4);
    EXPECT_EQ(out.profile.subsystems[0].scope, Scope::scheduler);
    EXPECT_EQ(out.profile.subsystems[1].scope, Scope::core);
}

// Half of the curves say copies, half say none: "core" was written.
TEST(Scopes, CurvesThatDisagreeDecideNothingAndThatIsSaid) {
    FitOutcome out = outcome({curve("alu", 4, {4}), curve("alu", 1, {4}), curve("sfu", 4, {4})});
    set_scopes(out);
    EXPECT_EQ(out.profile.issue.schedulers, 4);
    EXPECT_FALSE(out.profile.subsystems[0].scope);
    EXPECT_EQ(out.profile.subsystems[1].scope, Scope::scheduler);
    EXPECT_EQ(out.assumed_scopes, std::vector<std::string>{"alu"});
    ASSERT_FALSE(out.notes.empty());
    EXPECT_NE(out.notes.back().find("scope of subsystem alu is not known"), std::string::npos)
        << out.notes.back();
}

// A staircase of two where the core has four schedulers: anything but one unit for the core.
TEST(Scopes, AStaircaseOfAnotherPeriodIsNoEvidenceForOneUnit) {
    FitOutcome out = outcome({curve("alu", 2, {2, 4}), curve("sfu", 4, {4}), curve("sfu", 4, {4})});
    set_scopes(out);
    EXPECT_EQ(out.profile.issue.schedulers, 4);
    EXPECT_FALSE(out.profile.subsystems[0].scope);
}

// Copies of any number would have shown in one subsystem; the other's curve could not tell.
TEST(Scopes, WithoutSchedulersThatShowOnlyWhatCouldTellIsOneUnit) {
    FitOutcome out = outcome({curve("alu", 1, {2, 3, 4, 5, 6, 7, 8}), curve("sfu", 1, {2, 4})});
    out.subjects[0].curve.points.push_back({.shape = {.group_warps = 2}});
    set_scopes(out);
    EXPECT_EQ(out.profile.issue.schedulers, 1);
    EXPECT_EQ(out.profile.subsystems[0].scope, Scope::core);
    EXPECT_FALSE(out.profile.subsystems[1].scope);  // six would not have shown
    ASSERT_FALSE(out.notes.empty());
    EXPECT_NE(out.notes.front().find("number of schedulers is not known"), std::string::npos);
}

// Before, the profile's scopes were then those of one unit for the core.
TEST(Scopes, WhereNoNumberOfSchedulersIsKnownNoScopeIs) {
    FitOutcome none = outcome({curve("alu", 1, {}), curve("sfu", 1, {})});
    for (Subsystem& subsystem : none.profile.subsystems) subsystem.scope = Scope::core;
    none.subjects[0].curve.points.push_back({.shape = {.group_warps = 2}});
    set_scopes(none);
    for (const Subsystem& subsystem : none.profile.subsystems) EXPECT_FALSE(subsystem.scope);
    ASSERT_FALSE(none.notes.empty());
    EXPECT_NE(none.notes.front().find("number of schedulers is not known"), std::string::npos);
}

// A core that takes one warp at a time has nothing to share among schedulers.
TEST(Scopes, OneWarpAtATimeHasOneUnit) {
    FitOutcome out = outcome({curve("alu", 1, {}), curve("sfu", 1, {})});
    out.subjects[0].curve.points.push_back({.shape = {.chains = 8}});
    set_scopes(out);
    EXPECT_EQ(out.profile.subsystems[0].scope, Scope::core);
    EXPECT_TRUE(out.notes.empty());
}

TEST(Scopes, PortsWhoseLimitIsTheProfilesCountThem) {
    FitOutcome out = outcome({curve("alu", 1, {4}), curve("alu", 1, {4})});
    for (SubjectReport& s : out.subjects) {
        s.fit.sharing_schedulers = 4;
        s.fit.port_limit = Estimate{.value = 4, .std_error = 0.02};
    }
    set_issue_limit(out);
    ASSERT_TRUE(out.profile.issue.limit);
    set_scopes(out);
    EXPECT_EQ(out.profile.issue.schedulers, 4);
}

// Two on a unit of the core, one with four copies, and one that cannot tell, all of one class.
FitOutcome assumed_class() {
    FitOutcome out = outcome(
        {curve("alu", 1, {4}), curve("alu", 1, {4}), curve("alu", 4, {4}), curve("alu", 1, {})});
    const char* names[] = {"fma.f32", "add.f32", "mul.s32", "sad.u32"};
    for (std::size_t i = 0; i < 4; ++i) {
        out.subjects[i].curve.subject = names[i];
        out.subjects[i].fit.cpi = Estimate{.value = 1, .std_error = 0.001};
    }
    out.subjects[2].fit.port_share = 1;
    return out;
}

TEST(Scopes, CurvesThatContradictTheirClassLeaveIt) {
    FitOutcome out = assumed_class();
    split_classes(out);
    set_scopes(out);
    EXPECT_EQ(out.subjects[2].subsystem, "alu.scheduler");
    for (const std::size_t i : {0, 1, 3}) EXPECT_EQ(out.subjects[i].subsystem, "alu");
    EXPECT_EQ(out.profile.find_subsystem("alu")->scope, Scope::core);
    EXPECT_EQ(out.profile.find_subsystem("alu.scheduler")->scope, Scope::scheduler);
    EXPECT_EQ(out.profile.issue.schedulers, 4);
    EXPECT_EQ(out.partition.decided_by("alu.scheduler"), "instruction class and scope");
    ASSERT_FALSE(out.notes.empty());
    EXPECT_NE(out.notes.front().find("class alu is split"), std::string::npos) << out.notes.front();
}

// Ports, several numbers of schedulers, a law that misses, or a mix: none of them splits.
TEST(Scopes, DoubtfulCurvesSplitNoClass) {
    const auto stays = [](const char* why, auto change) {
        FitOutcome out = assumed_class();
        change(out);
        split_classes(out);
        EXPECT_EQ(out.profile.subsystems.size(), 2U) << why;
        EXPECT_EQ(out.subjects[2].subsystem, "alu") << why;
    };
    stays("its ports are free", [](FitOutcome& out) { out.subjects[2].fit.port_share = 0.97; });
    stays("another's ports", [](FitOutcome& out) {
        out.subjects[0].fit.port_limit = Estimate{.value = 1.05, .std_error = 0.01};
    });
    stays("the issue limit", [](FitOutcome& out) { out.profile.issue.limit = 1; });
    stays("two numbers", [](FitOutcome& out) { out.subjects[3].fit.sharing_schedulers = 2; });
    stays("misfit", [](FitOutcome& out) { out.subjects[2].fit.misfit = Misfit{0.02, {}}; });
    stays("mixes", [](FitOutcome& out) {
        for (const char* name : {"fma.f32", "mul.s32"}) out.partition.witnessed.insert(name);
    });
}

// What mixes hold together stays; who was only assumed to belong there leaves.
TEST(Scopes, AssumedMembersLeaveWhatMixesHoldTogether) {
    FitOutcome out = assumed_class();
    for (const char* name : {"mul.s32", "sad.u32"}) out.partition.witnessed.insert(name);
    split_classes(out);
    set_scopes(out);
    for (const std::size_t i : {0, 1}) EXPECT_EQ(out.subjects[i].subsystem, "alu.core");
    for (const std::size_t i : {2, 3}) EXPECT_EQ(out.subjects[i].subsystem, "alu");
    EXPECT_EQ(out.profile.find_subsystem("alu")->scope, Scope::scheduler);
    EXPECT_EQ(out.profile.find_subsystem("alu.core")->scope, Scope::core);
}

// mul.s32 of the RTX 2070's profile takes 0.25 cycles behind a limit of two per cycle: 0.5 came out
// as if it were the unit's.
TEST(Scopes, ValuesAtTheIssueLimitSayThatTheUnitMayBeFaster) {
    const auto noted = [](double cpi, double error, std::optional<double> limit) {
        FitOutcome out = outcome({curve("alu", 1, {})});
        out.profile.issue.limit = limit;
        out.profile.issue.limit_std_error = 0.01;
        out.subjects[0].fit.cpi = Estimate{.value = cpi, .std_error = error};
        note_values_at_issue_limit(out);
        const Estimate& found = out.subjects[0].fit.cpi;
        EXPECT_TRUE(found.identifiable());
        EXPECT_FALSE(is_doubtful(found));
        return has_doubt(found, Doubt::Kind::at_issue_limit);
    };
    EXPECT_TRUE(noted(0.5, 0.001, 2));
    EXPECT_TRUE(noted(0.504, 0.001, 2));
    EXPECT_TRUE(noted(0.497, 0.001, 2));
    EXPECT_FALSE(noted(0.51, 0.001, 2));
    EXPECT_FALSE(noted(1, 0.6, 2));
    EXPECT_FALSE(noted(0.5, 0.001, std::nullopt));
}

// Units of 1 and 1.25 cycles, one of which takes the second kind of every pair; each pair is
// measured at β = 1 and 2.
MixFit pair(const std::string& first, const std::string& second, double both_at_1,
            double both_at_2) {
    MixFit mix{.first = first, .second = second, .ok = true};
    mix.best = MixLaw::partial_overlap;
    mix.points = {{1, 64, both_at_1 / 2, 0.001}, {2, 64, both_at_2 * 2 / 3, 0.001}};
    return mix;
}

FitOutcome four_instructions() {
    FitOutcome out = outcome(
        {curve("alu", 1, {}), curve("alu", 1, {}), curve("sfu", 1, {}), curve("sfu", 1, {})});
    const char* names[] = {"a.f32", "b.f32", "c.f32", "d.f32"};
    for (std::size_t i = 0; i < 4; ++i) {
        SubjectReport& s = out.subjects[i];
        s.curve.subject = names[i];
        s.primary = true;
        s.fit.cpi = Estimate{.value = i < 2 ? 1.0 : 1.25, .std_error = 0.001};
        s.fit.reached_cpi = s.fit.cpi.value;
    }
    return out;
}

// Behind ports of one and a half instructions a cycle two units reach 1.5 at β = 1 (by themselves
// 1.6), and less at β = 2: no law of a pair says so.
TEST(Scopes, MixesThatEndAtOneRateShowALimitWhateverLawTheyFollow) {
    FitOutcome out = four_instructions();
    out.subjects[0].fit.cpi.value = out.subjects[1].fit.cpi.value = 1.1;
    out.mixes = {pair("a.f32", "c.f32", 1.5, 1.2), pair("b.f32", "d.f32", 1.505, 1.2)};
    set_issue_limit(out);
    ASSERT_TRUE(out.profile.issue.limit);
    EXPECT_NEAR(*out.profile.issue.limit, 1.5025, 0.003);
}

TEST(Scopes, NoLimitWhereAMixIsFasterOrPairsEndApart) {
    FitOutcome faster = four_instructions();
    faster.mixes = {pair("a.f32", "c.f32", 1.40, 1.2), pair("b.f32", "d.f32", 1.405, 1.2),
                    pair("a.f32", "d.f32", 1.60, 1.5)};
    set_issue_limit(faster);
    EXPECT_FALSE(faster.profile.issue.limit);
    FitOutcome apart = four_instructions();
    apart.mixes = {pair("a.f32", "c.f32", 1.40, 1.2), pair("b.f32", "d.f32", 1.30, 1.2)};
    set_issue_limit(apart);
    EXPECT_FALSE(apart.profile.issue.limit);
}

// As fast as the units allow, or no faster than one unit for both: the rate is theirs.
TEST(Scopes, NoLimitWhereUnitsExplainTheRate) {
    FitOutcome out = four_instructions();
    out.mixes = {pair("a.f32", "c.f32", 1.6, 1.5), pair("b.f32", "d.f32", 1.6, 1.5)};
    for (MixFit& mix : out.mixes) mix.best = MixLaw::two_subsystems;
    set_issue_limit(out);
    EXPECT_FALSE(out.profile.issue.limit);
    FitOutcome one = four_instructions();
    one.mixes = {pair("a.f32", "b.f32", 1.0, 1.0), pair("c.f32", "a.f32", 0.89, 0.86),
                 pair("b.f32", "c.f32", 0.89, 0.92)};
    set_issue_limit(one);
    EXPECT_FALSE(one.profile.issue.limit);
}

// A curve whose ports look like copies seconds another curve's limit, but has none of its own: the
// mean of 1 ± 0.04 and of its 1/λ of 0.92 was 0.945.
TEST(Scopes, CurvesThatLookCopiedDoNotPullTheLimitDown) {
    FitOutcome out = outcome({curve("alu", 2, {2}), curve("alu", 1, {2})});
    out.subjects[0].fit.cpi = Estimate{.value = 1.087, .std_error = 0.001};
    out.subjects[1].fit.cpi = Estimate{.value = 1.182, .std_error = 0.001};
    out.subjects[1].fit.sharing_schedulers = 2;
    out.subjects[1].fit.port_limit = Estimate{.value = 1, .std_error = 0.041};
    set_issue_limit(out);
    ASSERT_TRUE(out.profile.issue.limit);
    EXPECT_NEAR(*out.profile.issue.limit, 1, 1e-3);
}

}  // namespace
}  // namespace occupipe
