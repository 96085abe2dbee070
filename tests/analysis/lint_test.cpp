// SPDX-License-Identifier: MIT
#include "analysis/device/lint.h"

#include <gtest/gtest.h>

#include "core/files/files.h"

namespace occupipe::analysis {
namespace {

using Lines = std::vector<std::string>;

Lines of_profile(const std::string& rest) {
    return analysis::oddities(
        parse_profile("format: occupipe-profile/1\ndevice: {name: x}\ncores: 1\n"
                      "warp_size: 32\n" +
                          rest,
                      "p.yaml"));
}

TEST(Oddities, AnOrdinaryProfileHasNone) {
    EXPECT_EQ(of_profile("clock_hz: 1e9\nissue: {limit: 1}\nsubsystems: {alu: {}}\n"
                         "instructions: {a: {subsystem: alu, cpi: 1, latency: 4}}\n"),
              Lines{});
}

TEST(Oddities, OfAnIssueLimitThatLeavesSchedulersIdleCycles) {
    const auto with = [](const std::string& issue) {
        return of_profile("clock_hz: 1e9\nissue: {" + issue +
                          "}\nsubsystems: {alu: {}}\n"
                          "instructions: {a: {subsystem: alu, cpi: 8, latency: 8}}\n");
    };
    EXPECT_EQ(with("limit: 4, schedulers: 4"), Lines{});
    EXPECT_EQ(with("limit: 6, schedulers: 4"), Lines{});
    EXPECT_EQ(
        with("limit: 2, schedulers: 4"),
        Lines{"issue.limit: with 2 for 4 schedulers, a scheduler has cycles in which it may issue "
              "nothing, which delays its first instruction and lengthens latencies"});
    EXPECT_EQ(with("limit: 0.5").size(), 1U);
}

TEST(Oddities, OfTimingsNameTheInstruction) {
    EXPECT_EQ(
        of_profile("clock_hz: 1e9\nissue: {limit: 2}\nsubsystems: {alu: {}}\n"
                   "instructions:\n"
                   "  a: {subsystem: alu, cpi: 4, latency: 2}\n"
                   "  b: {subsystem: alu, cpi: {value: 0.25, std_error: 1}, latency: 2}\n"
                   "  c: {subsystem: alu, cpi: 1, latency: {value: 2, identifiable: false}}\n"),
        (Lines{
            "instructions.b.cpi: the standard error 1 is larger than the value 0.25",
            "instructions.c.latency: not identifiable, but the direction of the bound is not given",
            "instructions.a: Λ = 2 is below λ = 4",
            "instructions.b: λ = 0.25 per core is below 1/issue.limit = 0.5: the subsystem can "
            "never be kept busy"}));
}

TEST(Oddities, OfARateThatNoCoreHas) {
    EXPECT_EQ(
        of_profile("clock_hz: 1e9\nsubsystems: {alu: {}}\ninstructions:\n"
                   "  a: {subsystem: alu, cpi: 0.03125, latency: 4}\n"
                   "  b: {subsystem: alu, cpi: {value: 0.005, bound: upper}, latency: 4}\n"),
        Lines{"instructions.b: λ = 0.005 per core starts 200 warps a cycle, and no core starts "
              "more than 32"});
    EXPECT_EQ(most_starts_per_cycle(1), 128);
}

TEST(Oddities, OfAValueThatMayBeTheIssueLimits) {
    EXPECT_EQ(of_profile("clock_hz: 1e9\nissue: {limit: 2}\nsubsystems: {alu: {}}\n"
                         "instructions:\n"
                         "  a: {subsystem: alu, cpi: {value: 0.5, note: 'at the issue limit: the "
                         "unit itself may be faster'}, latency: 4}\n"),
              Lines{"instructions.a.cpi: at the issue limit: the unit itself may be faster"});
}

TEST(Oddities, OfEveryQuantityNameItsPlace) {
    EXPECT_EQ(
        of_profile("clock_hz: 1e9\nissue: {limit: {value: 1, std_error: 2}}\n"
                   "overheads: {loop_cycles: {value: 12, identifiable: false}}\n"
                   "subsystems: {alu: {contention: {value: 0, std_error: 0.01}}}\n"
                   "instructions:\n"
                   "  a:\n"
                   "    subsystem: alu\n"
                   "    cpi: 1\n"
                   "    latency: 4\n"
                   "    tables: [{over: n, rows: [{at: 1, cpi: {value: 1, std_error: 3}}]}]\n"),
        (Lines{
            "issue.limit: the standard error 2 is larger than the value 1",
            "overheads.loop_cycles: not identifiable, but the direction of the bound is not given",
            "instructions.a.tables[0].rows[0].cpi: the standard error 3 is larger than the value "
            "1"}));
}

TEST(Oddities, SchedulersShareTheWork) {
    EXPECT_EQ(of_profile("clock_hz: 1e9\nissue: {limit: 4, schedulers: 4}\n"
                         "subsystems: {alu: {scope: scheduler}}\n"
                         "instructions: {a: {subsystem: alu, cpi: 1, latency: 4}}\n"),
              Lines{});
}

TEST(Oddities, OfDeviceFacts) {
    EXPECT_EQ(of_profile("clock_hz: 1506\nlimits: {warps: 4, group_warps: 8}\n"
                         "subsystems: {alu: {}}\ninstructions: {}\n"),
              (Lines{"clock_hz: 1506 Hz is an unusual clock",
                     "limits.group_warps: a group may be larger than limits.warps",
                     "instructions: is empty", "subsystems.alu: no instruction uses it"}));
}

TEST(Oddities, OfWhatAutoMatchAsks) {
    const auto with = [](const std::string& numbers) {
        return of_profile(
            "clock_hz: 1e9\nsubsystems: {}\ninstructions: {}\nmatch: {processors: 4, "
            "flops_per_second: 2e10, fast_bytes: 6291456, "
            "line_bytes: 64, " +
            numbers + ", synchronisation_seconds: 2e-7}\n");
    };
    EXPECT_EQ(with("fast_bytes_per_second: 2e11, fast_latency_seconds: 4e-9, "
                   "slow_bytes_per_second: 2e10, slow_latency_seconds: 6e-8"),
              Lines{});
    EXPECT_EQ(with("fast_bytes_per_second: 2e10, fast_latency_seconds: 6e-8, "
                   "slow_bytes_per_second: 2e11, slow_latency_seconds: 4e-9, "
                   "f32_flops_per_second: 1e10"),
              (Lines{"match.slow_bytes_per_second: 200000000000 is above "
                     "match.fast_bytes_per_second: 20000000000",
                     "match.fast_latency_seconds: 6e-08 is above match.slow_latency_seconds: 4e-09",
                     "match.flops_per_second: 20000000000 is above match.f32_flops_per_second: "
                     "10000000000"}));
    EXPECT_EQ(with("fast_bytes_per_second: 285, fast_latency_seconds: 4"),
              (Lines{"match.fast_bytes_per_second: 285 is unusual (100000000 to 1000000000000000)",
                     "match.fast_latency_seconds: 4 is unusual (1e-11 to 1e-05)"}));
}

TEST(Oddities, OfDivergentKernels) {
    const Kernel kernel = parse_kernel(
        "format: occupipe-kernel/1\nname: k\nwarps:\n"
        "  - share: 0.3\n    instructions: [{repeat: 3, body: [{id: b, op: bar.sync}]}]\n"
        "  - share: 0.7\n    instructions: [{id: b, op: bar.sync}]\n"
        "launch: {group_warps: 8, concurrent_groups: 1, groups: 1}\n",
        "k.yaml");
    EXPECT_EQ(analysis::oddities(kernel),
              (Lines{"warps.share: 0.3 of 8 warps is not a whole number",
                     "warps.share: 0.7 of 8 warps is not a whole number",
                     "warps: some warps pass 1 barriers, others 3: a group may never finish"}));
}

TEST(Oddities, OfMeasurements) {
    const std::string row =
        R"({"name": "a/group_warps:1/concurrent_groups:1/chains:1/depth:1", "real_time": 1,
            "time_unit": "us", "clock_hz": )";
    const MeasurementFile file = parse_measurements(
        R"({"context": {"device_name": "x", "cores": "1", "warp_size": "32"}, "benchmarks": [)" +
            row + "1e9}," + row + "2e9}]}",
        "m.json");
    EXPECT_EQ(analysis::oddities(file),
              (Lines{"context.clock_hz: is missing; a profile needs it",
                     "benchmarks: 1 row has a repetition that is there already: "
                     "a/group_warps:1/concurrent_groups:1/chains:1/depth:1 repetition 0",
                     "benchmarks: the clock varied between 1000000000 and 2000000000 Hz"}));
}

// One line each was 229 lines for a run that was appended to itself.
TEST(Oddities, OfManyRepeatedRowsAreOneLine) {
    MeasurementFile file;
    file.context = {{"device_name", "x"}, {"cores", "1"}, {"warp_size", "32"}, {"clock_hz", "1e9"}};
    for (const int warps : {1, 2, 3, 4, 5, 1, 2, 3, 4, 5}) {
        MeasurementRow& row = file.rows.emplace_back();
        row.subject = "a";
        row.shape = {1, warps, 1, 8};
    }
    const Lines lines = analysis::oddities(file);
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_NE(lines[0].find("5 rows have a repetition that is there already: a/"), lines[0].npos);
    EXPECT_NE(lines[0].find("concurrent_groups:3/chains:1/depth:8 repetition 0, …"), lines[0].npos);
    EXPECT_EQ(lines[0].find("concurrent_groups:4"), lines[0].npos);
}

// `fit` names such a claim, and so does `check`.
TEST(Oddities, AClockInMegahertzIsNoClockInHertz) {
    const MeasurementFile file = parse_measurements(
        R"({"context": {"device_name": "x", "cores": "1", "warp_size": "32", "clock_hz": "1980"},
            "benchmarks": [{"name": "a/group_warps:1/concurrent_groups:1/chains:1/depth:1",
            "real_time": 1, "time_unit": "us", "clock_hz": 1e9}]})",
        "m.json");
    EXPECT_EQ(analysis::oddities(file),
              (Lines{"context.clock_hz: '1980' is not a core clock in Hz: is it in MHz or GHz?"}));
}

}  // namespace
}  // namespace occupipe::analysis
