// SPDX-License-Identifier: MIT
// A part of docs/background/accuracy.md with fixed seeds and limits: what the fitter may never do
// again.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "fit/profile/build_profile.h"
#include "tests/accuracy/score.h"
#include "tests/support/thinned.h"

namespace occupipe::test {
namespace {

Score score_of(const std::string& name, int devices) {
    const auto& all = scenarios();
    const auto it = std::ranges::find(all, name, &Scenario::name);
    EXPECT_NE(it, all.end()) << name;
    if (it == all.end()) return {};
    return score_scenarios({*it}, devices, 1).front();
}

double within_two(const ParameterScore& p) {
    return static_cast<double>(p.within_two) / std::max(p.values, 1);
}

TEST(Accuracy, GreedySchedulersGiveNoSilentOverstatement) {
    for (const char* name :
         {"drifting warps, greedy then oldest", "drifting warps, oldest first"}) {
        const Score s = score_of(name, 4);
        EXPECT_EQ(s.silent, 0) << name;
        EXPECT_EQ(s.false_bounds, 0) << name;
        EXPECT_EQ(s.flagged, s.curves) << name;
        EXPECT_GE(within_two(s.latency), 0.9) << name;
    }
}

// With every warp's start and stop λ is a value again, and the right one.
TEST(Accuracy, RecordedStopsGiveLambdaUnderAnyPolicy) {
    for (const char* name : {"stops recorded, round robin", "stops recorded, greedy then oldest",
                             "stops recorded, oldest first", "stops recorded, youngest first",
                             "stops recorded, greedy, copies"}) {
        const Score s = score_of(name, 5);
        EXPECT_GE(s.cpi.values, s.curves - 1) << name;
        EXPECT_LE(std::abs(s.cpi.bias / s.cpi.values), 0.003) << name;
        EXPECT_GE(within_two(s.cpi), 0.9) << name;
        EXPECT_GE(within_two(s.latency), 0.85) << name;
        EXPECT_EQ(s.silent, 0) << name;
        EXPECT_EQ(s.false_bounds, 0) << name;
    }
}

TEST(Accuracy, TheOrderOfStopsTellsHowWarpsAreChosen) {
    const std::vector<std::pair<const char*, WarpOrder>> expected = {
        {"stops recorded, round robin", WarpOrder::take_turns},
        {"stops recorded, greedy then oldest", WarpOrder::oldest_first},
        {"stops recorded, oldest first", WarpOrder::oldest_first},
        {"stops recorded, youngest first", WarpOrder::youngest_first},
        {"stops recorded, greedy, copies", WarpOrder::oldest_first}};
    for (const auto& [name, order] : expected) {
        const auto scenario = std::ranges::find(scenarios(), name, &Scenario::name);
        ASSERT_NE(scenario, scenarios().end()) << name;
        int right = 0;
        constexpr int devices = 4;
        for (std::uint64_t seed = 1; seed <= devices; ++seed) {
            const PlantedDevice device = make_device(*scenario, 7000 + seed);
            const FitOutcome found = fit_measurements(std::vector{device.file});
            // Unknown is an answer; a wrong one is none.
            if (!found.warp_choice) continue;
            EXPECT_EQ(found.warp_choice->order, order) << name << " " << seed;
            right += found.warp_choice->order == order;
        }
        EXPECT_GE(right, devices - 1) << name;
    }
    // Nothing recorded, nothing known.
    const auto plain =
        std::ranges::find(scenarios(), "drifting warps, greedy then oldest", &Scenario::name);
    EXPECT_FALSE(fit_measurements(std::vector{make_device(*plain, 1).file}).warp_choice);
}

TEST(Accuracy, CopiesOfAnyPeriodAreFound) {
    for (const char* name : {"copies, period 8", "copies, period 3, 5, 6, 7 or 16"}) {
        const Score s = score_of(name, 5);
        EXPECT_LE(s.wrong_schedulers, 1) << name;
        EXPECT_EQ(s.false_bounds, 0) << name;
        EXPECT_GE(within_two(s.cpi), 0.85) << name;
        EXPECT_EQ(s.silent, 0) << name;
    }
}

// One warp takes λ of a copy or little more: the law with these copies was given up, since no place
// tells its Λ, or its start was too far off; 279 of 1620 curves lost λ, Λ or k.
TEST(Accuracy, CopiesThatOneWarpKeepsBusyAreFound) {
    for (const char* name : {"copies slower than Λ", "quick run, copies slower than Λ"}) {
        const Score s = score_of(name, 10);
        EXPECT_GE(10 * s.cpi.values, 9 * s.curves) << name;
        EXPECT_GE(within_two(s.cpi), 0.85) << name;
        EXPECT_GE(within_two(s.latency), 0.85) << name;
        EXPECT_EQ(s.wrong_schedulers, 0) << name;
        EXPECT_EQ(s.false_bounds, 0) << name;
        EXPECT_EQ(s.silent, 0) << name;
    }
}

// All runs with one number of warps took less time: that was what had been reached. With half of it
// 140 of 232 curves had a bound of λ that is false, with nine tenths 53 of 180.
TEST(Accuracy, RunsThatEndEarlyAtOnePlaceAreNoBound) {
    for (const char* name :
         {"Gaussian 0.2 %", "Gaussian 1 %", "copies, period 4", "ridge at the sweep's border"}) {
        const auto scenario = std::ranges::find(scenarios(), name, &Scenario::name);
        ASSERT_NE(scenario, scenarios().end()) << name;
        std::uint64_t seed = 5000;
        for (const auto& [warps, part] : {std::pair{2, 0.5},
                                          {5, 0.5},
                                          {10, 0.5},
                                          {32, 0.5},
                                          {64, 0.5},
                                          {24, 0.9},
                                          {32, 0.9},
                                          {64, 0.9}}) {
            PlantedDevice device = make_device(*scenario, ++seed);
            for (MeasurementRow& row : device.file.rows)
                if (row.shape.warps() == warps) *row.cycles *= part;
            const FitOutcome found = fit_measurements(std::vector{device.file});
            for (const PlantedInstruction& planted : device.instructions) {
                const TimingFit& fit = std::ranges::find(
                                           found.subjects, planted.name,
                                           [](const auto& s) -> auto& { return s.curve.subject; })
                                           ->fit;
                ASSERT_TRUE(fit.ok) << name << " " << warps;
                EXPECT_GE(fit.cpi.value + 3 * fit.cpi.std_error.value_or(0), 0.99 * planted.cpi)
                    << name << " " << warps;
                if (part < 0.9) {
                    EXPECT_NE(fit.outlying_points, 0) << name << " " << warps;
                }
            }
        }
    }
}

// A ridge just beyond what one chain's copies do: the law needs no latency there, which was taken
// for a proof that there is none (3 of 60 bounds broken).
TEST(Accuracy, WhatTheEndOfACurveAllowsIsInItsBound) {
    const auto& all = scenarios();
    const auto scenario = std::ranges::find(all, "common to a shape, with copies", &Scenario::name);
    ASSERT_NE(scenario, all.end());
    Score s;
    for (const std::uint64_t seed : {33U, 87U, 99U, 104U}) s.add(score_device(*scenario, seed));
    EXPECT_GE(s.bounds, 3);
    EXPECT_EQ(s.false_bounds, 0);
}

// Ports at 0.5 to 2 times the unit's rate, told by what their law gets wrong of the turns that
// schedulers take.
TEST(Accuracy, PortsThatLengthenNoRunAreNoLimit) {
    const auto& all = scenarios();
    const auto scenario = std::ranges::find(all, "drifting warps, round robin", &Scenario::name);
    ASSERT_NE(scenario, all.end());
    for (const std::uint64_t seed : {54U, 90U, 175U, 275U})
        EXPECT_EQ(score_device(*scenario, seed).invented_limits, 0) << seed;
}

TEST(Accuracy, BoundsHoldAtTheBorderOfTheSweep) {
    for (const char* name : {"contention at the border", "ridge at the sweep's border"}) {
        const Score s = score_of(name, 6);
        EXPECT_GT(s.bounds, 0) << name;
        EXPECT_EQ(s.false_bounds, 0) << name;
    }
}

TEST(Accuracy, ContentionIsNotPaidForByLambda) {
    const Score s = score_of("contention", 6);
    EXPECT_GE(within_two(s.cpi), 0.8);
    EXPECT_GE(within_two(s.latency), 0.8);
}

// Λ grows until the unit is full beyond the sweep's end: what the rounding at the ridge made of λ
// was 8 % low, with an error of 2 %, and nothing said so.
TEST(Accuracy, NoPlateauNoLambdaWhereLatencyGrows) {
    const auto& all = scenarios();
    const auto scenario = std::ranges::find(all, "contention and round knee", &Scenario::name);
    ASSERT_NE(scenario, all.end());
    for (const std::uint64_t seed : {47U, 142U, 48U, 67U}) {
        if (seed == 48U && !thinned::all_cases()) break;
        const Score s = score_device(*scenario, seed);
        EXPECT_EQ(s.silent, 0) << seed;
        EXPECT_EQ(s.false_bounds, 0) << seed;
    }
}

// What the depths of a shape have in common counted as many times as there are depths: 19 of 600
// curves got a growth of Λ, three a bound that the truth breaks.
TEST(Accuracy, WhatAShapeHasInCommonIsNoLaw) {
    const auto& all = scenarios();
    const auto scenario = std::ranges::find(all, "common to a shape, with copies", &Scenario::name);
    ASSERT_NE(scenario, all.end());
    Score all_seven;
    for (const std::uint64_t seed : {10U, 22U, 63U, 69U, 73U, 76U, 84U})
        all_seven.add(score_device(*scenario, seed));
    EXPECT_LE(all_seven.invented_growth, 1);
    EXPECT_EQ(all_seven.false_bounds, 0);
}

TEST(Accuracy, ErrorsKnowWhatAShapeHasInCommon) {
    for (const char* name : {"errors common to a shape, 1 %", "common to a shape, with copies"}) {
        const Score s = score_of(name, 20);
        EXPECT_GE(within_two(s.cpi), 0.85) << name;
        EXPECT_GE(within_two(s.latency), 0.9) << name;
    }
}

TEST(Accuracy, CoarseClocksAndDelaysStandInTheErrors) {
    for (const char* name : {"counter of 32 cycles", "event ticks of 32 ns",
                             "additive exponential, mean 1 %", "drift of 3 %, random order"}) {
        const Score s = score_of(name, 4);
        EXPECT_GE(within_two(s.cpi), 0.8) << name;
        EXPECT_GE(within_two(s.latency), 0.8) << name;
        EXPECT_EQ(s.invented_growth, 0) << name;
    }
}

// Of five repetitions three are delayed in one point of ten: the medians were, and λ came out 4 %
// too long.
TEST(Accuracy, ManyDelaysDoNotLengthenTimes) {
    const Score s = score_of("25 % outliers", 8);
    EXPECT_EQ(s.flagged, s.curves);
    EXPECT_LE(std::abs(s.cpi.bias / s.cpi.values), 0.005);
    EXPECT_GE(within_two(s.cpi), 0.88);
    EXPECT_GE(within_two(s.latency), 0.85);
    EXPECT_EQ(s.silent, 0);
}

// The left end's single points replaced Λ and its error where they were off by the drift's chance:
// 14 of 120 values were missed.
TEST(Accuracy, ASawToothIsFlaggedAndItsEndsAreCovered) {
    const Score s = score_of("saw-tooth of 5 %, seven teeth", 12);
    EXPECT_EQ(s.flagged, s.curves);
    EXPECT_GE(within_two(s.cpi), 0.95);
    EXPECT_GE(within_two(s.latency), 0.95);
    EXPECT_EQ(s.silent, 0);
    // Where nothing drifts none is seen.
    EXPECT_LE(score_of("Gaussian 1 %", 8).flagged, 2);
}

// Teeth of three or four points each, of which no neighbours are alike: told as a drift of 34 %
// over the run with errors of 12 %, or, with more scatter, not at all.
TEST(Accuracy, TeethOfAQuickRunAreTold) {
    for (const char* name : {"quick run of one, twenty teeth of 4 %, scatter 0.2 %",
                             "quick run of one, twenty teeth of 4 %, scatter 0.5 %",
                             "quick run, twenty teeth of 4 %, three repetitions"}) {
        const auto scenario = std::ranges::find(scenarios(), name, &Scenario::name);
        ASSERT_NE(scenario, scenarios().end()) << name;
        int values = 0;
        int told = 0;
        for (std::uint64_t seed = 1; seed <= 4; ++seed) {
            const PlantedDevice device = make_device(*scenario, 900 + seed);
            const FitOutcome found = fit_measurements(std::vector{device.file});
            for (const PlantedInstruction& planted : device.instructions) {
                const TimingFit& fit = std::ranges::find(
                                           found.subjects, planted.name,
                                           [](const auto& s) -> auto& { return s.curve.subject; })
                                           ->fit;
                ASSERT_TRUE(fit.ok);
                told += fit.wandering > 0.02 && fit.wandering < 0.08;
                for (const auto& [value, truth] :
                     {std::pair(fit.cpi, planted.cpi), std::pair(fit.latency, planted.latency)}) {
                    if (!value.identifiable()) continue;
                    ++values;
                    EXPECT_LE(std::abs(value.value - truth), 2 * *value.std_error) << name << seed;
                    EXPECT_LE(*value.std_error, 0.05 * value.value) << name << seed;
                }
            }
        }
        EXPECT_GE(told, 4 * scenario->instructions) << name;
        EXPECT_GT(values, 4 * scenario->instructions) << name;
    }
}

// Copies that the scatter hides were taken for one unit of the core.
TEST(Accuracy, AScopeIsRightOrNotKnown) {
    int wrong = 0;  // of 54; was 9
    for (const char* name : {"subsystems of either scope", "quick run, subsystems of either scope",
                             "subsystems of either scope, scatter 3 %"}) {
        const Score s = score_of(name, 6);
        wrong += s.wrong_scopes;
        EXPECT_LE(2 * s.unknown_scopes, s.scopes) << name;
    }
    EXPECT_LE(wrong, 1);
}

// By class alone copies and units of the core were one subsystem, with the scope of the more.
TEST(Accuracy, AClassOfEitherScopeIsSplit) {
    for (const bool quick : {false, true}) {
        Scenario one_class =
            *std::ranges::find(scenarios(), "subsystems of either scope", &Scenario::name);
        one_class.name =
            quick ? "quick run, one class of either scope" : "one class of either scope";
        one_class.quick = quick;
        one_class.one_class = true;
        const Score s = score_scenarios({one_class}, 12, 1).front();
        EXPECT_EQ(s.scopes, 36);
        EXPECT_LE(s.wrong_scopes + s.unknown_scopes, 4) << quick;  // was 9 and 14
    }
}

// Ports that take nearly as long as the unit make it look copied.
TEST(Accuracy, PortsTearNoUnitApart) {
    EXPECT_EQ(score_of("issue ports", 20).torn_units, 0);
    EXPECT_EQ(score_of("copies, period 4", 6).torn_units, 0);
}

// Where warps drift apart and nobody recorded whose they were, a staircase is as likely the
// drift's: copies were called one unit of the core, and bounds were the λ of a law that did not
// hold.
TEST(Accuracy, DriftWithoutPlacementsTellsNoScope) {
    const Score s = score_of("quick run, stops without placements, greedy, either scope", 12);
    EXPECT_EQ(s.scopes, 36);
    EXPECT_EQ(s.wrong_scopes, 0);
    EXPECT_EQ(s.false_bounds, 0);
    EXPECT_EQ(s.silent, 0);
}

// Copies that no placement counts, each of which one warp keeps busy: Λ came out as λ of a copy, a
// value with an error of 1 %.
TEST(Accuracy, LatencyThatMayBeTheTimeOfACopyIsABound) {
    Scenario s;
    s.name = "greedy copies slower than Λ, not placed";
    s.quick = s.copies = s.slow_copies = s.stops = true;
    s.placed = false;
    s.schedulers = {2, 4, 8};
    s.choice = Choice::greedy_then_oldest;
    const Score score = score_scenarios({s}, 10, 1).front();
    EXPECT_EQ(score.false_bounds, 0);
    EXPECT_EQ(score.silent, 0);
    EXPECT_GT(score.bounds, score.curves / 3);
    for (const double error : score.latency.errors) EXPECT_LE(error, 0.05);
    // The bow of others rules copies out.
    const Score clear = score_of("quick run, stops without placements, greedy, either scope", 8);
    EXPECT_GE(clear.latency.values, 15);
    EXPECT_GE(within_two(clear.latency), 0.85);
}

// Sixteen copies that a dependent chain alone keeps busy: Λ came out 348 % and 34 % high.
TEST(Accuracy, ALawThatMostPointsContradictGivesNoLatency) {
    const auto scenario =
        std::ranges::find(scenarios(), "copies, period 3, 5, 6, 7 or 16", &Scenario::name);
    ASSERT_NE(scenario, scenarios().end());
    for (const std::uint64_t seed : {6U, 8U}) {
        const Score s = score_device(*scenario, seed);
        EXPECT_EQ(s.false_bounds, 0) << seed;
        for (const double error : s.latency.errors) EXPECT_LE(error, 0.03) << seed;
    }
}

TEST(Accuracy, SkewedStartsGrowNoLatency) {
    for (const char* name : {"start skew to 3 %", "start skew to 10 %"}) {
        const Score s = score_of(name, 3);
        EXPECT_EQ(s.invented_growth, 0) << name;
        EXPECT_EQ(s.invented_limits, 0) << name;
        EXPECT_GE(within_two(s.cpi), 0.8) << name;
    }
}

// One of two compiled kernels is slower: λ came out 33 % high with an error of 0.1 %.
TEST(Accuracy, LoopBodiesThatDifferInSpeedAreToldAndCovered) {
    const Score alike = score_of("loop bodies of two lengths", 16);
    EXPECT_LE(alike.flagged, 6);  // a ridge that the loop rounds
    EXPECT_GE(within_two(alike.cpi), 0.88);
    EXPECT_GE(within_two(alike.latency), 0.85);
    for (const double error : alike.cpi.errors) EXPECT_LE(error, 0.01);
    for (const char* name :
         {"two loop bodies, the long one slower", "two loop bodies, the short one slower"}) {
        const Score s = score_of(name, 8);
        EXPECT_GE(s.flagged, s.curves - 1) << name;
        EXPECT_GE(within_two(s.cpi), 0.92) << name;
        EXPECT_GE(within_two(s.latency), 0.92) << name;
        EXPECT_EQ(s.silent, 0) << name;
        EXPECT_EQ(s.false_bounds, 0) << name;
    }
}

// A clock that sinks under load: λ and Λ came out up to 10 % high, a few of them covered.
TEST(Accuracy, LongRunsThatAreSlowerAreToldAndCovered) {
    for (const char* name : {"long runs slower beyond a length", "long runs slower gradually",
                             "long runs slower by power"}) {
        const Score s = score_of(name, 5);
        EXPECT_GE(10 * s.flagged, 8 * s.curves) << name;  // a step may lie beyond all runs
        EXPECT_GE(within_two(s.cpi), 0.9) << name;
        EXPECT_GE(within_two(s.latency), 0.9) << name;
        EXPECT_EQ(s.silent, 0) << name;
        EXPECT_EQ(s.false_bounds, 0) << name;
    }
}

// Before, none of 20 was found, and those that single curves told were 14 % off.
TEST(Accuracy, IssuePortsAreFoundWhereTheyBind) {
    const Score s = score_of("issue ports", 12);
    EXPECT_EQ(s.limits, 12);
    EXPECT_GE(s.found_limits, 9);
    EXPECT_LE(s.wrong_limits, 1);  // 4.20 where 4 is planted
    EXPECT_GE(within_two(s.cpi), 0.85);
    EXPECT_LE(s.wrong_schedulers, 5);
    EXPECT_EQ(s.silent, 0);
}

TEST(Accuracy, NoLimitIsInvented) {
    for (const char* name : {"errors common to a shape, 1 %", "copies, period 4", "contention",
                             "drifting warps, round robin"})
        EXPECT_EQ(score_of(name, 5).invented_limits, 0) << name;
}

// Behind issue ports two units hide a part of each other's time only. Assumptions made one
// subsystem of them, with a confidence of 0.998, and the limit, which every pair of units reached,
// was found in 13 of 19.
TEST(Accuracy, MixesTellTheLimitAndAnHonestPartition) {
    const bool all = thinned::all_cases();
    const Score behind = score_of("mixes behind issue ports", all ? 10 : 5);
    EXPECT_GE(10 * behind.right_limits, 9 * behind.shown_limits);
    EXPECT_EQ(behind.wrong_limits, 0);
    EXPECT_EQ(behind.sure_and_wrong, 0);
    EXPECT_GE(behind.right_partitions, all ? 7 : 3);
    const Score plain = score_of("mixes, two or three units", all ? 6 : 3);
    EXPECT_EQ(plain.right_partitions, plain.partitions);
    EXPECT_EQ(plain.sure_partitions, plain.partitions);
    EXPECT_EQ(plain.invented_limits, 0);
    // Instructions that need two units: 19 of 20 partitions claimed more than 0.9, then 4 of 20.
    const Score two = score_of("mixes, instructions of two units", all ? 10 : 4);
    EXPECT_EQ(two.sure_and_wrong, 0);
    EXPECT_EQ(two.invented_limits, 0);
}

TEST(Accuracy, BarriersAndWindowsGiveWhatWasPlanted) {
    const std::vector<std::pair<const char*, int>> devices{
        {"barriers", thinned::all_cases() ? 16 : 8}, {"windows, one scheduler preferred often", 4}};
    for (const auto& [name, number] : devices) {
        const Score s = score_of(name, number);
        EXPECT_GT(s.cpi.values, 0) << name;
        EXPECT_GE(within_two(s.cpi), 0.85) << name;
        EXPECT_GE(within_two(s.latency), 0.8) << name;
        EXPECT_EQ(s.silent, 0) << name;
        EXPECT_EQ(s.false_bounds, 0) << name;
    }
}

}  // namespace
}  // namespace occupipe::test
