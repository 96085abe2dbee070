// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/files/csv.h"
#include "core/files/file_kind.h"
#include "core/files/files.h"

namespace occupipe {
namespace {

MeasurementFile rows(const std::string& benchmarks) {
    return parse_measurements(R"({"context": {"cores": "10"}, "benchmarks": [)" + benchmarks + "]}",
                              "m.json");
}

TEST(MeasurementJson, AFileOfGoogleBenchmarkIsRead) {
    const MeasurementFile file = parse_measurements(R"({
  "context": {
    "date": "2024-05-01T12:00:00+00:00",
    "num_cpus": 2,
    "cpu_scaling_enabled": false,
    "caches": [{"type": "Data", "level": 1}],
    "load_avg": [0.5, 1],
    "device_name": "a \"quoted\" GPU",
    "cores": "10"
  },
  "benchmarks": [
    {
      "name": "fma.f32/group_warps:4/concurrent_groups:2/chains:1/depth:1024/manual_time",
      "family_index": 0,
      "per_family_instance_index": 0,
      "run_name": "fma.f32/group_warps:4/concurrent_groups:2/chains:1/depth:1024/manual_time",
      "run_type": "iteration",
      "repetitions": 2,
      "repetition_index": 1,
      "threads": 1,
      "iterations": 1,
      "real_time": 2.5e+01,
      "cpu_time": 3.1e+01,
      "time_unit": "us",
      "group_warps": 4.0000000000000000e+00,
      "concurrent_groups": 2.0000000000000000e+00,
      "warps": 8.0000000000000000e+00,
      "chains": 1.0000000000000000e+00,
      "depth": 1.0240000000000000e+03,
      "cycles": 6.2500000000000000e+03,
      "clock_hz": 1.5e9,
      "sm": 3,
      "label": "x"
    },
    {"name": "fma.f32/group_warps:4/concurrent_groups:2/chains:1/depth:1024_mean", "run_type": "aggregate", "aggregate_name": "mean", "real_time": 1, "time_unit": "us"},
    {"name": "mix(fma.f32*8,cos.approx.f32)/group_warps:1/concurrent_groups:1/chains:1/depth:9",
     "run_type": "iteration", "error_occurred": true, "error_message": "the clock dropped", "real_time": 0, "time_unit": "us", "cycles": 0}
  ]
})",
                                                    "m.json");
    EXPECT_EQ(file.path, "m.json");
    EXPECT_EQ(file.content_hash.substr(0, 7), "xxh128:");
    EXPECT_EQ(file.context.at("device_name"), "a \"quoted\" GPU");
    EXPECT_EQ(file.context.at("num_cpus"), "2");
    EXPECT_EQ(file.context.at("cpu_scaling_enabled"), "false");
    EXPECT_EQ(file.context.at("caches"), R"([{"type":"Data","level":1}])");
    ASSERT_EQ(file.rows.size(), 2U);
    const MeasurementRow& row = file.rows[0];
    EXPECT_EQ(row.subject, "fma.f32");
    EXPECT_EQ(row.shape, (MeasurementShape{4, 2, 1, 1024}));
    EXPECT_EQ(row.repetition, 1);
    EXPECT_EQ(row.cycles, 6250);
    EXPECT_EQ(row.clock_hz, 1.5e9);
    EXPECT_EQ(row.seconds, 25e-6);
    EXPECT_FALSE(row.error.has_value());
    EXPECT_FALSE(row.beta.has_value());
    EXPECT_EQ(row.counters.at("sm"), 3);
    EXPECT_EQ(row.counters.at("depth"), 1024);
    EXPECT_FALSE(row.counters.contains("cpu_time"));
    const MeasurementRow& failed = file.rows[1];
    EXPECT_EQ(failed.error, "the clock dropped");
    EXPECT_EQ(failed.beta, 8);
    EXPECT_FALSE(failed.cycles.has_value());
}

TEST(MeasurementJson, AByteOrderMarkIsNoPartOfTheText) {
    const std::string text = R"({"context": {"cores": "10"}, "benchmarks": []})";
    EXPECT_EQ(parse_measurements("\xef\xbb\xbf" + text, "m.json").context.at("cores"), "10");
    EXPECT_EQ(file_kind("\xef\xbb\xbf" + text, "m.json"), FileKind::measurements);
    try {
        parse_measurements(
            "\xef\xbb\xbf"
            R"({"context": 1, "benchmarks": []})",
            "m.json");
        FAIL() << "was read";
    } catch (const InputError& error) {
        EXPECT_EQ(std::string(error.what()).substr(0, 19), "m.json:1:13: contex");
    }
    const auto records = parse_csv("\xef\xbb\xbfpoint,cycles\na,1\n", "l.csv");
    EXPECT_EQ(records.at(0).fields, (std::vector<std::string>{"point", "cycles"}));
}

TEST(MeasurementJson, ANameThatNoProfileCanHaveIsRefused) {
    for (const char* name : {"a b", "a\\u0001", "a@b", "=", "a\\t"}) {
        const std::string row =
            std::string(R"({"name": ")") + name +
            R"(/group_warps:1/concurrent_groups:1/chains:1/depth:8", "real_time": 1, "time_unit": "us"})";
        EXPECT_THROW(rows(row), InputError) << name;
    }
}

TEST(MeasurementJson, TheShapeMayStandInTheNameAlone) {
    const auto file = rows(R"({"name": "a/depth:7/chains:2/concurrent_groups:3/group_warps:5",
                               "real_time": 1, "time_unit": "s"})");
    EXPECT_EQ(file.rows[0].shape, (MeasurementShape{5, 3, 2, 7}));
    EXPECT_EQ(file.rows[0].seconds, 1);
}

TEST(MeasurementJson, TheShapeMayStandInTheCountersAlone) {
    const auto file = rows(R"({"name": "a", "group_warps": 5, "concurrent_groups": 3, "chains": 2,
                               "depth": 7, "real_time": 1, "time_unit": "ns"})");
    EXPECT_EQ(file.rows[0].shape, (MeasurementShape{5, 3, 2, 7}));
    EXPECT_EQ(file.rows[0].seconds, 1e-9);
    EXPECT_FALSE(file.rows[0].cycles.has_value());
}

TEST(MeasurementJson, NoRowsIsNoError) { EXPECT_TRUE(rows("").rows.empty()); }

}  // namespace
}  // namespace occupipe
