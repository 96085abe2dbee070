// SPDX-License-Identifier: MIT
#include "fit/structure/scopes.h"

#include <gtest/gtest.h>

#include <string>

#include "fit/profile/build_profile.h"

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

}  // namespace
}  // namespace occupipe
