// SPDX-License-Identifier: MIT
// GPUs that differ from the others of their model: planted ones are found, of others no more than
// was promised. Critical values against published ones.
#include "analysis/device/fleet.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "analysis/device/outliers.h"
#include "core/error.h"
#include "report/text/fleet_text.h"

namespace occupipe::analysis {
namespace {

// The example of Rosner 1983 as NIST prints it (e-Handbook of Statistical Methods, 1.3.5.17.3).
TEST(Outliers, RosnersExample) {
    const std::vector<double> values = {
        -0.25, 0.68, 0.94, 1.15, 1.20, 1.26, 1.26, 1.34, 1.38, 1.43, 1.49, 1.49, 1.55, 1.56,
        1.58,  1.65, 1.69, 1.70, 1.76, 1.77, 1.81, 1.91, 1.94, 1.96, 1.99, 2.06, 2.09, 2.10,
        2.14,  2.15, 2.23, 2.24, 2.26, 2.35, 2.37, 2.40, 2.47, 2.54, 2.62, 2.64, 2.90, 2.92,
        2.92,  2.93, 3.21, 3.26, 3.30, 3.59, 3.68, 4.30, 4.64, 5.34, 5.42, 6.01};
    ASSERT_EQ(values.size(), 54U);
    const std::vector<double> printed = {3.158, 3.151, 3.143, 3.136, 3.128};
    for (std::size_t i = 0; i < printed.size(); ++i)
        EXPECT_NEAR(rosner_critical(54 - i, 0.05), printed[i], 2e-3) << i;
    const auto found = find_outliers(values, {}, 0.05);
    ASSERT_EQ(found.size(), 3U);
    const std::vector<double> distances = {3.118, 2.942, 3.179};
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(found[i].index, 53 - i);
        EXPECT_NEAR(found[i].distance, distances[i], 2e-3);
    }
}

// Errors explain what they explain: the same five numbers, well known and hardly known.
TEST(Outliers, AValueIsNoOutlierForItsError) {
    const std::vector<double> values = {10, 10.01, 9.99, 10.005, 11};
    EXPECT_EQ(find_outliers(values, {}, 1e-4).size(), 1U);
    std::vector<std::optional<double>> errors(5, 0.01);
    EXPECT_EQ(find_outliers(values, errors, 1e-4).size(), 1U);
    errors[4] = 1.0;  // its own
    EXPECT_EQ(find_outliers(values, errors, 1e-4).size(), 0U);
    errors.assign(5, 0.6);  // of all
    EXPECT_EQ(find_outliers(values, errors, 1e-4).size(), 0U);
    EXPECT_EQ(find_outliers(std::vector<double>{1, 1, 9}, {}, 0.05).size(), 0U);
    EXPECT_EQ(find_outliers(std::vector<double>{1, 1, 1, 1}, {}, 0.05).size(), 0U);
    EXPECT_EQ(find_outliers(std::vector<double>{1, 1, 1, 1, 2}, {}, 0.05).size(), 1U);
}

// A fleet of `size` GPUs with `instructions` instructions; healthy ones differ by `spread`, and
// each number is measured with the relative error `error`.
std::vector<FleetMember> fleet_of(std::size_t size, int instructions, double spread, double error,
                                  std::mt19937_64& random) {
    std::normal_distribution<double> normal;
    std::vector<FleetMember> members;
    for (std::size_t i = 0; i < size; ++i) {
        FleetMember member{.name = fmt::format("node{:02}", i), .profile = {}};
        GpuProfile& profile = member.profile;
        profile.device.name = "Fleet GPU";
        profile.cores = 36;
        profile.warp_size = 32;
        profile.clock_hz = 1.5e9 * (1 + 0.005 * normal(random));
        profile.subsystems = {{.name = "alu"}};
        for (int k = 0; k < instructions; ++k) {
            InstructionTiming timing;
            timing.name = fmt::format("op{}.f32", k);
            timing.subsystem = "alu";
            const auto measured = [&](double truth) {
                const double scale = std::hypot(spread, error);
                return Estimate{
                    .value = truth * (1 + scale * normal(random)),
                    .std_error = error > 0 ? std::optional(truth * error) : std::nullopt};
            };
            timing.cpi = measured(0.25 + k);
            timing.latency = measured(4 + 10 * k);
            profile.instructions.push_back(std::move(timing));
        }
        members.push_back(std::move(member));
    }
    return members;
}

// Fleets without an outlier: how many of 300 are said to have one. 5 % are promised; 27 is what 300
// fleets with exactly that rate exceed with a probability of 0.1 %.
TEST(Fleet, FalseAlarmsAreNoMoreThanPromised) {
    std::mt19937_64 random(5);
    for (const std::size_t size : {4U, 6U, 12U, 40U}) {
        int alarms = 0;
        const int fleets = 300;
        for (int i = 0; i < fleets; ++i) {
            const Fleet fleet = examine_fleet(
                fleet_of(size, 6, 0.02, i % 2 == 0 ? 0.01 : 0, random), {.relative = 0});
            EXPECT_EQ(fleet.quantities, 13U);
            alarms += !fleet.models.at(0).outliers.empty();
        }
        std::printf("%zu GPUs: %d of %d fleets\n", size, alarms, fleets);
        EXPECT_LE(alarms, 27) << size;
    }
}

TEST(Fleet, PlantedOutliersAreFoundAndNoOther) {
    std::mt19937_64 random(6);
    for (const std::size_t size : {8U, 24U, 64U})
        for (int round = 0; round < 20; ++round) {
            auto members = fleet_of(size, 20, 0.002, 0.002, random);
            // A slow memory, a clock that throttles, a longer latency; two on one quantity, which
            // hide one another from a test of one outlier.
            members[1].profile.instructions[7].cpi.value *= 1.10;
            members[3].profile.clock_hz *= 0.80;
            members[4].profile.instructions[2].latency->value *= 1.15;
            members[5].profile.instructions[2].latency->value *= 1.16;
            const Fleet fleet = examine_fleet(members, {});
            std::set<std::pair<std::string, std::string>> found;
            for (const FleetOutlier& one : fleet.models.at(0).outliers) {
                found.emplace(one.member, one.quantity);
                EXPECT_GT(one.distance, one.critical);
                EXPECT_EQ(one.members, size);
            }
            const std::set<std::pair<std::string, std::string>> planted = {
                {"node01", "op7.f32 λ per core [cycles]"},
                {"node03", "clock [Hz]"},
                {"node04", "op2.f32 Λ [cycles]"},
                {"node05", "op2.f32 Λ [cycles]"}};
            EXPECT_EQ(found, planted) << size << " " << round;
        }
}

// Half of a fleet is slow: there is no outlier, and silence would be wrong.
TEST(Fleet, TwoHalvesThatDifferAreSaid) {
    std::mt19937_64 random(12);
    for (const std::size_t size : {4U, 6U, 8U, 24U}) {
        auto members = fleet_of(size, 5, 0.002, 0.002, random);
        EXPECT_TRUE(examine_fleet(members, {}).models.at(0).spreads.empty());
        for (std::size_t i = 0; i < size; ++i) {
            Estimate& cpi = members[i].profile.instructions[2].cpi;
            cpi.value = i % 2 == 0 ? 2 : 2.2;
            cpi.std_error = 0.004;
        }
        const Fleet fleet = examine_fleet(members, {});
        EXPECT_TRUE(fleet.models.at(0).outliers.empty());
        ASSERT_EQ(fleet.models[0].spreads.size(), 1U) << size;
        const FleetSpread& one = fleet.models[0].spreads[0];
        EXPECT_EQ(one.quantity, "op2.f32 λ per core [cycles]");
        EXPECT_EQ(one.least, 2);
        EXPECT_EQ(one.most, 2.2);
        const auto n = static_cast<double>(size);
        EXPECT_NEAR(one.deviation, 0.1 * std::sqrt(n / (n - 1)), 1e-12);  // n values, 0.1 off
        EXPECT_NEAR(one.error, 0.004, 1e-15);
        EXPECT_EQ(one.members, size);
        const std::string text = report::to_text(fleet, {});
        EXPECT_NE(text.find("GPUs differ by more than their errors, in no single one: from 2 to "
                            "2.2,"),
                  std::string::npos)
            << text;
        // Errors that explain it.
        for (FleetMember& member : members) member.profile.instructions[2].cpi.std_error = 0.1;
        EXPECT_TRUE(examine_fleet(members, {}).models.at(0).spreads.empty());
    }
}

// An outlier alone is not also a spread.
TEST(Fleet, AnOutlierIsNoSpread) {
    std::mt19937_64 random(13);
    auto members = fleet_of(8, 3, 0.002, 0.002, random);
    members[2].profile.instructions[1].cpi.value *= 1.2;
    const Fleet fleet = examine_fleet(members, {});
    EXPECT_EQ(fleet.models.at(0).outliers.size(), 1U);
    EXPECT_TRUE(fleet.models[0].spreads.empty());
}

TEST(Fleet, EvidenceIsWhatWasPlanted) {
    std::mt19937_64 random(8);
    auto members = fleet_of(9, 3, 0.001, 0.001, random);
    members[2].profile.instructions[1].cpi.value = 2.5;
    const Fleet fleet = examine_fleet(members, {});
    ASSERT_EQ(fleet.models.at(0).outliers.size(), 1U);
    const FleetOutlier& one = fleet.models[0].outliers[0];
    EXPECT_EQ(one.value, 2.5);
    EXPECT_NEAR(one.median, 1.25, 0.005);
    EXPECT_NEAR(one.relative, 1, 0.01);
    EXPECT_LT(one.spread, 0.01);
    EXPECT_DOUBLE_EQ(fleet.level, 0.05 / 7);
}

// Bounds are no values; models are apart; few GPUs tell nothing; what most have is said.
TEST(Fleet, WhatCannotBeCompared) {
    std::mt19937_64 random(9);
    auto members = fleet_of(6, 2, 0.001, 0.001, random);
    members[0].profile.instructions[0].cpi = {.value = 99, .kind = Estimate::Kind::upper_bound};
    members[1].profile.cores = 35;
    members[2].profile.instructions.pop_back();
    auto other = fleet_of(3, 2, 0.001, 0.001, random);
    for (FleetMember& one : other) {
        one.name += "-other";
        one.profile.device.name = "Other GPU";
        one.profile.clock_hz *= 3;
    }
    members.insert(members.end(), other.begin(), other.end());
    const Fleet fleet = examine_fleet(members, {});
    ASSERT_EQ(fleet.models.size(), 2U);
    EXPECT_TRUE(fleet.models[0].outliers.empty());
    EXPECT_EQ(fleet.models[0].differences,
              (std::vector<std::string>{"node01: 35 cores, 5 of 6 have 36",
                                        "node02: no op1.f32, which most have"}));
    EXPECT_EQ(fleet.models[1].quantities, 0U);
    EXPECT_EQ(fleet.models[1].untested, 5U);
    EXPECT_TRUE(fleet.models[1].outliers.empty());
    members.push_back(members[0]);
    EXPECT_THROW(examine_fleet(members, {}), InputError);
}

}  // namespace
}  // namespace occupipe::analysis
