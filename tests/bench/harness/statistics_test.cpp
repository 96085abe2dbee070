// SPDX-License-Identifier: MIT
// How often a point is repeated, and what is said of its repetitions.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bench/harness/finished_point.h"
#include "bench/harness/harness.h"
#include "bench/harness/stopping.h"
#include "core/files/files.h"
#include "tests/bench/harness/fake_backend.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::bench {
namespace {

using test::TemporaryFolder;
using testing::FakeBackend;
using Json = nlohmann::json;

TEST(Stopping, TheStandardErrorIsThatOfTheMean) {
    const std::vector<double> values = {9, 11, 9, 11};  // mean 10, deviation sqrt(4/3)
    EXPECT_NEAR(relative_standard_error(values).value(), std::sqrt(4.0 / 3.0 / 4.0) / 10, 1e-15);
    EXPECT_FALSE(relative_standard_error(std::vector<double>{3}));
    EXPECT_FALSE(relative_standard_error(std::vector<double>{-1, 1}));
}

TEST(Stopping, QuartilesLieBetweenNeighbours) {
    const std::vector<double> values = {4, 1, 3, 2};
    EXPECT_DOUBLE_EQ(quantile(values, 0.25), 1.75);
    EXPECT_DOUBLE_EQ(quantile(values, 0.5), 2.5);
    EXPECT_DOUBLE_EQ(quantile(values, 1), 4);
}

TEST(Stopping, AsksForTheLeastThenForTheTargetThenForTheBudget) {
    const StoppingRule rule{.least = 3, .most = 5, .relative_error = 0.01, .seconds = 1};
    const std::vector<double> calm = {1, 1, 1, 1, 1};
    const std::vector<double> wild = {1, 2, 1, 2, 1};
    const auto first = [](const std::vector<double>& all, std::size_t n) {
        return std::span<const double>(all).first(n);
    };
    EXPECT_TRUE(repeat(rule, first(calm, 2), 100));  // the least is not for sale
    EXPECT_FALSE(repeat(rule, first(calm, 3), 0));
    EXPECT_TRUE(repeat(rule, first(wild, 4), 0.5));
    EXPECT_FALSE(repeat(rule, first(wild, 4), 1.5));
    EXPECT_FALSE(repeat(rule, first(wild, 5), 0));
}

Json rows_of(const std::filesystem::path& file) {
    return Json::parse(read_text_file(file)).at("benchmarks");
}

// Cycles of the launches in turn; the whole file's rows.
Json measured(std::vector<double> cycles, const StoppingRule& rule,
              std::optional<double> budget_seconds = std::nullopt) {
    const TemporaryFolder folder;
    FakeBackend backend;
    backend.facts_.model = true;  // no warm-up launch
    std::size_t launch = 0;
    backend.answer = [&](const LaunchRequest&) {
        return Observation{.seconds = 1e-6,
                           .cycles = cycles[launch++ % cycles.size()],
                           .clock_hz = {},
                           .counters = {}};
    };
    auto sweep = make_sweep(backend, {.patterns = {"fma.f32"}, .quick = true});
    sweep.points.resize(1);
    run_sweep(
        backend, sweep,
        {.output = folder.path / "m.json", .stopping = rule, .budget_seconds = budget_seconds});
    return rows_of(folder.path / "m.json");
}

TEST(Stopping, ACalmPointEndsWithTheLeastAndSaysSo) {
    const Json rows = measured({100}, {.least = 4, .most = 9});
    ASSERT_EQ(rows.size(), 5u);
    for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(rows[i].at("target_met"), 1.0);
        EXPECT_EQ(rows[i].at("relative_standard_error"), 0.0);
        EXPECT_EQ(rows[i].at("repetitions"), 4);
        EXPECT_EQ(rows[i].at("repetition_index"), i);
    }
}

TEST(Stopping, AnUnquietPointIsRepeatedUntilTheBudgetIsSpentAndKeepsItsOutliers) {
    const Json rows = measured({100, 100, 100, 900}, {.least = 4, .most = 8});
    ASSERT_EQ(rows.size(), 9u);
    int outliers = 0;
    for (int i = 0; i < 8; ++i) {
        EXPECT_EQ(rows[i].at("target_met"), 0.0);
        outliers += rows[i].at("cycles") == 900.0;
    }
    EXPECT_EQ(outliers, 2);
}

TEST(Stopping, MoreRepetitionsReachTheTarget) {
    // Standard error over mean: 1.8 % after the least, below 1 % after ten.
    const Json rows = measured({103, 97}, {.least = 4, .most = 40});
    const auto repetitions = rows.size() - 1;
    EXPECT_EQ(rows[0].at("target_met"), 1.0);
    EXPECT_GT(repetitions, 4u);
    EXPECT_LT(repetitions, 40u);
    EXPECT_LE(rows[0].at("relative_standard_error").get<double>(), 0.01);
}

TEST(Stopping, TimeEndsAPointThatDoesNotCalmDown) {
    const Json rows = measured({100, 900}, {.least = 2, .most = 30, .seconds = 0});
    EXPECT_EQ(rows.size(), 3u);
    EXPECT_EQ(rows[0].at("target_met"), 0.0);
}

TEST(Stopping, ARunOverItsBudgetStillMeasuresTheLeast) {
    EXPECT_EQ(measured({100, 900}, {.least = 4, .most = 30}, 1e-9).size(), 5u);
    EXPECT_EQ(measured({100, 900}, {.least = 4, .most = 30}, 1e9).size(), 31u);
}

TEST(PointRows, TheAggregateHoldsMedianAndQuartiles) {
    const Json rows = measured({10, 50, 20, 40}, {.least = 4, .most = 4});
    const Json& all = rows.back();
    EXPECT_EQ(all.at("run_type"), "aggregate");
    EXPECT_EQ(all.at("aggregate_name"), "median");
    EXPECT_EQ(all.at("cycles"), 30.0);
    EXPECT_EQ(all.at("cycles_q1"), 17.5);
    EXPECT_EQ(all.at("cycles_q3"), 42.5);
    EXPECT_FALSE(all.contains("repetition_index"));
}

TEST(PointRows, AFailedPointHasNoStatistics) {
    FinishedPoint point{.name = "a", .repetitions = std::vector<Repetition>(2), .statistics = {}};
    EXPECT_TRUE(statistics_of(point.repetitions, {}));
    point.repetitions[1].error = "no";
    point.statistics = statistics_of(point.repetitions, {});
    EXPECT_FALSE(point.statistics);
    const std::vector<std::string> rows = row_texts(point);
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(Json::parse(rows[1]).at("error_message"), "no");
    EXPECT_FALSE(Json::parse(rows[0]).contains("error_message"));
    EXPECT_FALSE(Json::parse(rows[0]).contains("target_met"));
}

TEST(PointRows, WhatADriverSaysNeedNotBeUtf8) {
    const FinishedPoint point{
        .name = "a",
        .repetitions = {{.error = "bad \xff", .time_unit = "ns", .counters = {}, .label = {}}},
        .statistics = {}};
    EXPECT_EQ(Json::parse(row_texts(point).at(0)).at("error_message"), "bad \uFFFD");
}

// Google Benchmark's own reporter is the format: the same keys and values in the same order.
TEST(PointRows, AreThoseOfGoogleBenchmarksReporter) {
    benchmark::BenchmarkReporter::Run run;
    run.run_name.function_name = "fma.f32/group_warps:2";
    run.family_index = 3;
    run.per_family_instance_index = 1;
    run.repetitions = 5;
    run.repetition_index = 4;
    run.threads = 1;
    run.iterations = 7;
    run.time_unit = benchmark::kNanosecond;
    run.real_accumulated_time = 1.0 / 3;
    run.cpu_accumulated_time = 1e-300;
    run.counters["warps"] = 8;
    run.counters["cycles"] = 0.1 + 0.2;
    run.counters["a"] = -1e22;
    run.report_label = "xxh128:\"1\"";
    run.statistics = nullptr;
    Repetition one{.family_index = 3,
                   .per_family_instance_index = 1,
                   .repetitions = 5,
                   .repetition_index = 4,
                   .threads = 1,
                   .iterations = 7,
                   .error = {},
                   .real_time = run.GetAdjustedRealTime(),
                   .cpu_time = run.GetAdjustedCPUTime(),
                   .time_unit = "ns",
                   .counters = {{"warps", 8}, {"cycles", 0.1 + 0.2}, {"a", -1e22}},
                   .label = "xxh128:\"1\""};
    for (const bool failed : {false, true}) {
        run.error_occurred = failed;
        run.error_message = failed ? "a \"reason\"\n" : "";
        if (failed) one.error = run.error_message;
        std::ostringstream text;
        benchmark::JSONReporter reporter;
        reporter.SetOutputStream(&text);
        reporter.SetErrorStream(&text);
        reporter.ReportRuns({run});
        EXPECT_EQ(
            row_texts({.name = run.run_name.function_name, .repetitions = {one}, .statistics = {}})
                .at(0),
            nlohmann::ordered_json::parse(text.str()).dump());
    }
}

TEST(Receipts, ComeOncePerKernelAndARefusalIsOne) {
    struct Refusing : FakeBackend {
        std::unique_ptr<Program> compile(const KernelSource& source) override {
            if (source.plan.chains == 2) {
                ++refusals;
                throw DeviceError("fake: folded");
            }
            struct WithReceipt : Program {
                WithReceipt() { receipt_ = {.text = "all there\n", .hash = "h", .registers = 8}; }
            };
            return std::make_unique<WithReceipt>();
        }
        int refusals = 0;
    };
    const TemporaryFolder folder;
    Refusing backend;
    std::map<std::string, int> seen;
    run_sweep(backend, make_sweep(backend, {.patterns = {"fma.f32"}}),
              {.output = folder.path / "m.json",
               .receipt = [&](const KernelPlan& plan, const std::string& text) {
                   ++seen[fmt::format("{} {} {}", plan.chains, plan.unroll, text)];
               }});
    EXPECT_EQ(seen["1 256 all there\n"], 1);
    EXPECT_EQ(seen["1 64 all there\n"], 1);  // the loop body in the middle depth
    EXPECT_EQ(seen["2 128 fma.f32\n  REFUSED: fake: folded\n"], 1);
    for (const auto& [text, times] : seen) EXPECT_EQ(times, 1) << text;
    EXPECT_EQ(backend.refusals, 1);  // not tried again at every point
    for (const Json& row : rows_of(folder.path / "m.json")) {
        if (row.contains("error_occurred") || row.at("run_type") == "aggregate") continue;
        EXPECT_EQ(row.at("label"), "h");
        EXPECT_EQ(row.at("registers"), 8.0);
    }
}

TEST(TimeBudget, AllowsMoreOnlyWhileTheLeastOfTheRestStillFits) {
    TimeBudget budget(10, 5, 3);
    EXPECT_TRUE(budget.allows_more(0));  // nothing is known yet
    budget.repetition_took(0.5);
    budget.repetition_took(0.5);
    EXPECT_TRUE(budget.allows_more(2.4));  // 5 points of 3 repetitions of 0.5 s are to come
    EXPECT_FALSE(budget.allows_more(2.6));
    budget.point_done();
    EXPECT_TRUE(budget.allows_more(3.9));
    EXPECT_TRUE(TimeBudget(std::nullopt, 5, 3).allows_more(1e9));
}

}  // namespace
}  // namespace occupipe::bench
