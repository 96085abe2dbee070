// SPDX-License-Identifier: MIT
#include "report/text/program_launches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "core/error.h"
#include "report/text/program_comparison.h"

namespace occupipe::report {
namespace {

using program::CopyKind;
using program::Journals;
using program::PredictedLaunch;
using program::ShapeTotal;
using ::testing::HasSubstr;
using ::testing::Not;

PredictedLaunch taking(double seconds) {
    return {.seconds = seconds,
            .spread = 1.25,
            .limited_by = "mem",
            .dram_bytes = 4096.0,
            .why_not = {},
            .notes = {}};
}

ShapeTotal total(const char* kernel, std::uint32_t groups, double seconds) {
    ShapeTotal one;
    one.shape = {.kernel = kernel, .grid = {groups, 2, 1}, .block = {32, 8, 1}, .shared_bytes = 0};
    one.launches = one.predicted = 1;
    one.warp_instructions = 1000;
    one.last = {taking(seconds)};
    one.seconds = {seconds};
    return one;
}

Journals journals() {
    Journals all;
    all.profiles = {"A"};
    all.processes = 1;
    return all;
}

TEST(ProgramLaunches, KnownTimesAreAddedAndUnknownOnesAreTold) {
    Journals all = journals();
    ShapeTotal often = total("_Z4heatPfi", 4, 1e-3);
    often.launches = 3;
    often.seconds = {3e-3};
    often.unlike = 2;
    all.shapes.push_back(often);
    ShapeTotal unknown = total("_Z4coldPfi", 4, 0);
    unknown.last.front() = {};
    unknown.last.front().why_not = "the profile lacks it";
    unknown.seconds.front().reset();
    all.shapes.push_back(unknown);
    all.refused = {"cudaGraphCreate"};
    all.at_work = {unknown.shape};
    all.copies[CopyKind::memset] = {.count = 2, .bytes = 6400};
    const std::string text = to_text(all);
    EXPECT_THAT(text, HasSubstr("A: 4 launches, 3 ms predicted in kernels, without 1 whose time"));
    EXPECT_THAT(text, HasSubstr("(4,2) × (32,8)"));
    EXPECT_THAT(text, HasSubstr("not known"));
    EXPECT_THAT(text, HasSubstr("cold: the profile lacks it"));
    EXPECT_THAT(text, HasSubstr("cold of (4,2) × (32,8) was at work when the program ended"));
    EXPECT_THAT(text, HasSubstr("fewer instructions: heat (2); --all"));
    EXPECT_THAT(text, HasSubstr("refused: cudaGraphCreate"));
    EXPECT_THAT(text, HasSubstr("copied: 6.4 kB memset in 2"));

    EXPECT_THAT(text, Not(HasSubstr("(95 %")));  // that of one is not known
    EXPECT_THAT(text, HasSubstr("×/÷ 1.25"));

    const auto json = nlohmann::json::parse(to_json(all));
    EXPECT_DOUBLE_EQ(json["kernels"][0]["predictions"][0]["interval"]["low"], 2.4e-3);
    EXPECT_EQ(json["launches"], 4);
    EXPECT_EQ(json["kernels"][0]["predictions"][0]["seconds"], 3e-3);
    EXPECT_FALSE(json["kernels"][1]["predictions"][0].contains("seconds"));
    EXPECT_EQ(json["kernels"][1]["predictions"][0]["why_not"], "the profile lacks it");
    EXPECT_THAT(to_csv(all), HasSubstr("A,\"cold(float*, int)\",4,2,1,32,8,1,0,1,,,,1000,,\n"));
}

TEST(ProgramLaunches, NamesAreShortAndRowsAreFew) {
    Journals all = journals();
    for (std::uint32_t i = 1; i <= 30; ++i)
        all.shapes.push_back(total("_ZN3cub6detail6reduceINS_6policyIiEEEEvPT_i", i, 1e-3 * i));
    const std::string text = to_text(all);
    EXPECT_THAT(text, HasSubstr("\nreduce<cub::policy<int> >"));
    EXPECT_THAT(text, HasSubstr("11 others"));
    EXPECT_THAT(text, Not(HasSubstr("detail::reduce")));
    EXPECT_THAT(text, HasSubstr("(30,2) × (32,8)"));
    EXPECT_THAT(text, Not(HasSubstr("(11,2) × (32,8)")));
}

TEST(ProgramLaunches, NotesAreAtMostFiveLines) {
    Journals all = journals();
    all.shapes.push_back(total("_Z4heatPfi", 4, 1e-3));
    for (int i = 0; i < 9; ++i) all.errors.push_back(std::to_string(i) + ": why");
    const std::string text = to_text(all);
    EXPECT_THAT(text, HasSubstr("as reported above: 3\n  and 5 more notes"));
    EXPECT_THAT(text, Not(HasSubstr("reported above: 4")));
}

TEST(ProgramLaunches, NothingLaunchedIsSaid) {
    EXPECT_EQ(to_text({}),
              "no kernel was launched through the shared CUDA runtime (what a script starts "
              "needs it, too: nvcc -cudart shared)\n");
    EXPECT_EQ(to_text(journals()), "no kernel was launched\n");
}

TEST(ProgramLaunches, FindingsAreListedWithTheirCounts) {
    Journals all = journals();
    EXPECT_EQ(findings_text(all), "");
    all.findings = {{.kind = program::FindingKind::race,
                     .kernel = "_Z4heatPfi",
                     .place = "heat.cu:3",
                     .count = 1200,
                     .text = "it writes"},
                    {.kind = program::FindingKind::memory_error,
                     .kernel = "",
                     .place = "",
                     .count = 1,
                     .text = "it is freed"}};
    EXPECT_EQ(findings_text(all),
              "\nfound:\n  race, 1,200 times, first: it writes\n  memory error, once: it is "
              "freed\n");
    const auto json = nlohmann::json::parse(to_json(all))["findings"];
    EXPECT_EQ(json[0]["kernel"], "heat(float*, int)");
    EXPECT_EQ(json[0]["place"], "heat.cu:3");
    EXPECT_FALSE(json[1].contains("kernel"));
}

TEST(ProgramLaunches, ATraceHasStreamsAndSaysWhatIsNotPredicted) {
    Journals all = journals();
    all.spans = {{.stream = 0, .kernel = "_Z4heatPfi", .copy = {}, .start = 1e-3, .seconds = 2e-6},
                 {.stream = 2,
                  .kernel = "",
                  .copy = CopyKind::memset,
                  .bytes = 64,
                  .start = 2e-3,
                  .seconds = 1e-6,
                  .predicted = false}};
    const auto trace = nlohmann::json::parse(to_trace(all));
    const auto& events = trace["traceEvents"];
    ASSERT_EQ(events.size(), 5U);  // a process and two streams have names
    EXPECT_EQ(events[0]["args"]["name"], "A");
    EXPECT_EQ(events[2]["name"], "heat");
    EXPECT_EQ(events[2]["ph"], "X");
    EXPECT_DOUBLE_EQ(events[2]["ts"].get<double>(), 1000);
    EXPECT_DOUBLE_EQ(events[2]["dur"].get<double>(), 2);
    EXPECT_FALSE(events[2]["args"].contains("predicted"));
    EXPECT_EQ(events[3]["args"]["name"], "stream 2");
    EXPECT_EQ(events[4]["args"]["bytes"], 64);
    EXPECT_EQ(events[4]["args"]["predicted"], false);
}

TEST(ProgramLaunches, IntervalsAddUp) {
    Journals all = journals();
    all.shapes = {total("_Z4heatPfi", 4, 4e-3), total("_Z4coldPfi", 4, 1e-3)};
    EXPECT_THAT(to_text(all), HasSubstr("5 ms predicted in kernels (95 %: 4 ms to 6.25 ms)"));
    EXPECT_THAT(to_csv(all), HasSubstr(",0.004,mem,4096,1000,0.0032,0.005\n"));
}

TEST(ProgramComparison, KernelsAreMetByNameWhateverTheirShapes) {
    Journals before = journals();
    before.profiles = {"B", "A"};
    for (const std::uint32_t groups : {4U, 8U}) {
        before.shapes.push_back(total("_Z4heatPfi", groups, 1e-3));
        before.shapes.back().last.push_back(taking(2e-3));
        before.shapes.back().seconds.emplace_back(2e-3);
    }
    before.shapes.push_back(total("_Z3outPfi", 4, 1e-3));
    before.shapes.back().last.push_back(taking(1e-3));
    before.shapes.back().seconds.emplace_back(1e-3);
    Journals after = journals();
    after.shapes = {total("_Z4heatPfi", 16, 5e-3), total("_Z2inPfi", 4, 2e-3)};
    const EarlierRun earlier = parse_earlier_run(to_json(before), "before.json");
    EXPECT_EQ(comparison_text(earlier, after),
              "\nA against before.json\n"
              "kernel  launches  before  after   change\n"
              "in         0 → 1           2 ms      new\n"
              "heat       2 → 1    4 ms   5 ms  +25.0 %\n"
              "out        1 → 0    1 ms            gone\n"
              "all        3 → 2    5 ms   7 ms  +40.0 %\n");
}

// A kernel whose parameters changed is met by its short name, two that share it are not mixed.
TEST(ProgramComparison, NamesAlikeStayApart) {
    Journals before = journals(), after = journals();
    before.shapes = {total("_ZN1a4stepEv", 4, 1e-3), total("_ZN1b4stepEv", 4, 2e-3),
                     total("_Z4heatPf", 4, 1e-3)};
    after.shapes = {total("_ZN1a4stepEv", 4, 2e-3), total("_ZN1b4stepEv", 4, 1e-3),
                    total("_Z4heatPfi", 4, 1e-3)};
    const EarlierRun earlier = parse_earlier_run(to_json(before), "before.json");
    EXPECT_EQ(comparison_text(earlier, after),
              "\nA against before.json\n"
              "kernel  launches  before  after    change\n"
              "step           1    1 ms   2 ms  +100.0 %\n"
              "step           1    2 ms   1 ms   -50.0 %\n"
              "heat           1    1 ms   1 ms    +0.0 %\n"
              "all            3    4 ms   4 ms    +0.0 %\n");
}

TEST(ProgramComparison, WhatIsNoRunIsRefusedByItsPlace) {
    const auto message = [](const std::string& text) {
        try {
            parse_earlier_run(text, "before.json");
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_THAT(message("{\"format\": \"occupipe-sweep/1\"}"),
                HasSubstr("before.json:1:12: format: must be occupipe-program/1"));
    EXPECT_THAT(message("{\"format\": \"occupipe-program/1\", \"profiles\": [\"A\"], \"kernels\":"
                        " [{\"symbol\": \"k\", \"launches\": 1, \"predictions\": []}]}"),
                HasSubstr("predictions: must be one for each"));
}

}  // namespace
}  // namespace occupipe::report
