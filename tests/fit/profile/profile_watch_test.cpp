// SPDX-License-Identifier: MIT
// Profiles drawn from known numbers with known errors: how often is one called moved?
#include "fit/profile/profile_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>

namespace occupipe {
namespace {

using ::testing::HasSubstr;

constexpr double error = 0.003;  // relative, of each number
constexpr int instructions = 20;

// Numbers as a measurement with this error gives them, around the truth.
GpuProfile drawn(std::mt19937_64& random, double cpi_factor = 1, double latency_factor = 1) {
    std::normal_distribution<double> normal(0, error);
    const auto estimate = [&](double truth) {
        return Estimate{
            .value = truth * (1 + normal(random)), .std_error = truth * error, .note = {}};
    };
    GpuProfile p;
    p.device.name = "A GPU";
    p.cores = 10;
    p.warp_size = 32;
    p.clock_hz = 1.5e9;
    p.subsystems = {{"alu", Scope::core, {}}};
    for (int i = 0; i < instructions; ++i) {
        InstructionTiming t;
        t.name = "op" + std::to_string(i);
        t.subsystem = "alu";
        t.cpi = estimate((1 + i) * (i == 3 ? cpi_factor : 1));
        t.latency = estimate((20 + i) * (i == 7 ? latency_factor : 1));
        p.instructions.push_back(t);
    }
    return p;
}

// Rows whose clock is this one, a little off at every other.
MeasurementFile rows(double clock, int count = 40, double end = 1) {
    MeasurementFile file;
    for (int i = 0; i < count; ++i) {
        MeasurementRow row;
        row.subject = "op0";
        row.clock_hz = clock * (i % 2 == 0 ? 1 : 1.0002) * (3 * i > 2 * count ? end : 1);
        file.rows.push_back(row);
    }
    return file;
}

WatchReport watched(const GpuProfile& baseline, const GpuProfile& now, double clock = 1.5e9,
                    const WatchOptions& options = {}) {
    const std::array files = {rows(clock)};
    return watch_profile(baseline, now, files, options);
}

TEST(Watch, FalseAlarmsOfAWholeReportAreAsRareAsSaid) {
    std::mt19937_64 random(1);
    constexpr int reports = 1000;
    int alarms = 0;
    int alarms_at_a_tenth = 0;
    WatchOptions strict{.false_alarm_rate = 0.01, .relative = 0};
    WatchOptions loose{.false_alarm_rate = 0.1, .relative = 0};
    for (int i = 0; i < reports; ++i) {
        const GpuProfile a = drawn(random);
        const GpuProfile b = drawn(random);
        alarms += watched(a, b, 1.5e9, strict).moved() > 0;
        alarms_at_a_tenth += watched(a, b, 1.5e9, loose).moved() > 0;
    }
    // Student's t makes them rarer than said where the errors are exact: 10 and 100 would be it.
    EXPECT_LE(alarms, 10 + 3 * 4);
    EXPECT_LE(alarms_at_a_tenth, 100 + 3 * 10);
}

TEST(Watch, APlantedChangeIsFoundAndNamed) {
    std::mt19937_64 random(2);
    int cpi = 0;
    int latency = 0;
    constexpr int reports = 100;
    for (int i = 0; i < reports; ++i) {
        const GpuProfile baseline = drawn(random);
        const WatchReport slower = watched(baseline, drawn(random, 1.05));
        cpi += slower.moved() == 1 && slower.compared.front().name == "op3 λ" &&
               slower.compared.front().relative > 0;
        const WatchReport faster = watched(baseline, drawn(random, 1, 0.95));
        latency += faster.moved() == 1 && faster.compared.front().name == "op7 Λ" &&
                   faster.compared.front().relative < 0;
    }
    EXPECT_GE(cpi, 98);
    EXPECT_GE(latency, 98);
}

TEST(Watch, TheSmallestChangeThatWouldBeFoundIsSaid) {
    std::mt19937_64 random(3);
    const WatchReport report = watched(drawn(random), drawn(random));
    for (const Watched& one : report.compared) {
        if (!one.standard_errors) continue;
        // sqrt(2) errors of the difference times what is needed.
        EXPECT_NEAR(one.least_found, report.needed_standard_errors * error * 1.41421356,
                    0.02 * one.least_found);
    }
    // 40 numbers at 1 %: more than the 3.66 of a normal distribution (1 - 0.01 / 80).
    EXPECT_GT(report.needed_standard_errors, 3.66);
}

TEST(Watch, TheClock) {
    std::mt19937_64 random(4);
    const GpuProfile p = drawn(random);
    const auto clock_moved = [&](double clock) {
        const WatchReport report = watched(p, p, clock);
        for (const Watched& one : report.compared)
            if (one.name == "clock [Hz]") return one.moved;
        return false;
    };
    EXPECT_FALSE(clock_moved(1.5e9));
    EXPECT_FALSE(clock_moved(1.503e9));
    EXPECT_TRUE(clock_moved(1.53e9));
    EXPECT_TRUE(clock_moved(1.35e9));
    const WatchReport none = watch_profile(p, p, {}, {});
    EXPECT_THAT(none.not_compared,
                testing::Contains("clock [Hz]: nothing witnessed it in this run"));
}

TEST(Watch, WhatCannotBeComparedIsSaid) {
    std::mt19937_64 random(5);
    const GpuProfile baseline = drawn(random);
    GpuProfile now = drawn(random);
    now.instructions.erase(now.instructions.begin());                 // op0
    now.instructions[0].latency->kind = Estimate::Kind::upper_bound;  // op1
    now.instructions[1].cpi.std_error.reset();                        // op2
    now.instructions[2].name = "new";                                 // op3
    const WatchReport report = watched(baseline, now);
    EXPECT_THAT(
        report.not_compared,
        testing::IsSupersetOf({"op0 λ: only in the baseline", "op1 Λ: a bound in this run",
                               "op2 λ: no standard error in this run",
                               "op3 λ: only in the baseline", "new λ: not in the baseline"}));
}

TEST(Watch, FactsMoveWithoutErrors) {
    std::mt19937_64 random(6);
    const GpuProfile baseline = drawn(random);
    GpuProfile now = baseline;
    now.cores = 9;
    const WatchReport report = watched(baseline, now);
    EXPECT_EQ(report.moved(), 1u);
    EXPECT_EQ(report.compared.front().name, "cores");
    EXPECT_FALSE(report.compared.front().standard_errors);
}

TEST(Watch, DisturbancesOfTheRun) {
    std::mt19937_64 random(7);
    const GpuProfile p = drawn(random);
    const auto said = [&](MeasurementFile file) {
        const std::array files = {std::move(file)};
        return testing::PrintToString(watch_profile(p, p, files, {}).disturbances);
    };
    EXPECT_EQ(said(rows(1.5e9)), "{}");
    EXPECT_THAT(said(rows(1.5e9, 40, 0.9)), HasSubstr("the clock drifted by -10.0 %"));
    MeasurementFile failed = rows(1.5e9);
    failed.rows[3].error = "lost";
    failed.rows[4].counters["clock_deviation"] = -0.03;
    failed.rows[5].counters["nvml_throttle_reasons"] = 4;  // power cap
    failed.rows[6].counters["nvml_throttle_reasons"] = 1;  // idle
    failed.context["clock_warning"] = "settled at a third";
    const std::string text = said(failed);
    EXPECT_THAT(text, HasSubstr("1 of 40 rows failed"));
    EXPECT_THAT(text, HasSubstr("in 1 of 40 rows"));
    EXPECT_THAT(text, HasSubstr("throttling (power or heat) in 1 rows"));
    EXPECT_THAT(text, HasSubstr("clock_warning: settled at a third"));
}

}  // namespace
}  // namespace occupipe
