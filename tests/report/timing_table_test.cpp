// SPDX-License-Identifier: MIT
#include "report/text/timing_table.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files/files.h"
#include "report/text/error_terms.h"
#include "report/text/text_table.h"

namespace occupipe::report {
namespace {

GpuProfile profile(const std::string& device, const std::string& instructions) {
    return parse_profile("format: occupipe-profile/1\ndevice: " + device +
                             "\ncores: 1\nwarp_size: 32\nclock_hz: 1e9\nsubsystems: {alu: {}}\n"
                             "instructions:\n" +
                             instructions,
                         "p.yaml");
}

std::vector<GpuProfile> two_profiles() {
    return {profile("{name: First, architecture: One}",
                    "  fma.f32: {subsystem: alu, cpi: {value: 0.250123, std_error: 0.00123}, "
                    "latency: {value: 10.98, std_error: 0.4, identifiable: false, note: upper "
                    "bound}, source: measured}\n"),
            profile("{name: 'Second, & last', architecture: Two}",
                    "  mul.f32: {subsystem: alu, cpi: 0.375, latency: 6}\n"
                    "  fma.f32: {subsystem: alu, cpi: 1, latency: {value: 3, identifiable: false, "
                    "note: lower bound}}\n")};
}

std::string table(report::TableFormat format, bool errors = false) {
    return report::format_timing_table(report::timing_table(two_profiles()), format, errors);
}

TEST(TimingTable, MarkdownShowsTheDigitsThatTheErrorSupports) {
    EXPECT_EQ(table(report::TableFormat::markdown),
              "| λ / Λ   |              One |       Two |\n"
              "| ------- | ---------------: | --------: |\n"
              "| fma.f32 | 0.2501 / ≤ 10.98 |   1 / ≥ 3 |\n"
              "| mul.f32 |                - | 0.375 / 6 |\n");
}

TEST(TimingTable, ErrorsAreShownOnDemand) {
    EXPECT_NE(table(report::TableFormat::markdown, true).find("| 0.2501 ± 0.0012 / ≤ 10.98 |"),
              std::string::npos)
        << table(report::TableFormat::markdown, true);
}

// One unit: per core, and the scheduler's own copy beside it.
TEST(TimingTable, LambdaIsPerCoreWhateverTheScope) {
    GpuProfile p = profile("{name: x}", "  a: {subsystem: alu, cpi: 1, latency: 4}\n");
    p.subsystems[0].scope = Scope::scheduler;
    p.issue.schedulers = 4;
    const auto in = [&](report::TableFormat format) {
        return report::format_timing_table(report::timing_table({p}), format, false);
    };
    EXPECT_NE(in(report::TableFormat::markdown).find("| 0.25 (1 per scheduler) / 4 |"),
              std::string::npos)
        << in(report::TableFormat::markdown);
    EXPECT_NE(in(report::TableFormat::csv).find("a,x,,0.25,,true,4,,true,literature,,,1,1\n"),
              std::string::npos)
        << in(report::TableFormat::csv);
    const auto json = nlohmann::json::parse(in(report::TableFormat::json));
    EXPECT_EQ(json["instructions"][0]["timings"][0]["cpi"]["value"], 0.25);
    EXPECT_EQ(json["instructions"][0]["timings"][0]["cpi_per_scheduler"], 1);
}

TEST(TimingTable, ALatencyOfSeveralInstructionsSaysSoWhereItIsRead) {
    const auto p =
        profile("{name: x}",
                "  a: {subsystem: alu, cpi: 2, latency: {value: 9, std_error: 0.1, note: "
                "a step is ISETP + SEL}}\n  b: {subsystem: alu, cpi: 2, latency: 4}\n");
    EXPECT_EQ(report::format_timing_table(report::timing_table({p}), report::TableFormat::markdown,
                                          false),
              "| λ / Λ |            x |\n"
              "| ----- | -----------: |\n"
              "| a     | 2 / 9.00 [1] |\n"
              "| b     |        2 / 4 |\n"
              "\n[1] a step is ISETP + SEL; λ and Λ are the whole step's\n");
}

TEST(TimingTable, AValueThatMayBeTheIssueLimitsIsMarked) {
    const std::vector<GpuProfile> one = {
        profile("{name: A, architecture: One}",
                "  mul.s32: {subsystem: alu, cpi: {value: 0.5, note: 'at the issue limit: the unit "
                "itself may be faster'}, latency: 6}\n  fma.f32: {subsystem: alu, cpi: 1, "
                "latency: 6}\n")};
    const std::string text = report::format_timing_table(report::timing_table(one),
                                                         report::TableFormat::markdown, false);
    EXPECT_NE(text.find("| mul.s32 | 0.5 / 6 [i] |"), std::string::npos) << text;
    EXPECT_NE(text.find("\n[i] λ is at the issue limit: the unit itself may be faster\n"),
              std::string::npos)
        << text;
    EXPECT_EQ(text.find("1 / 6 [i]"), std::string::npos) << text;
}

TEST(TimingTable, DoubtsAreMarkedAndDataInJson) {
    const std::vector<GpuProfile> one = {
        profile("{name: A}",
                "  a: {subsystem: alu, cpi: 1, latency: {value: 6, doubts: [{kind: runs_disagree, "
                "size: 0.12}]}}\n  b: {subsystem: alu, cpi: 1, latency: 6}\n")};
    const TimingTable table = timing_table(one);
    const std::string text = format_timing_table(table, TableFormat::markdown, false);
    EXPECT_NE(text.find("| a     | 1 / 6 [!] |"), std::string::npos) << text;
    EXPECT_NE(text.find("| b     |     1 / 6 |"), std::string::npos) << text;
    const auto json = nlohmann::json::parse(format_timing_table(table, TableFormat::json, false));
    const auto& timings = json["instructions"];
    EXPECT_EQ(timings[0]["timings"][0]["latency"]["doubts"],
              nlohmann::json::parse(R"([{"kind": "runs_disagree", "size": 0.12}])"));
    EXPECT_FALSE(timings[1]["timings"][0]["latency"].contains("doubts"));
}

TEST(ErrorTerms, TheLargestComesFirstWithItsShareOfTheVariance) {
    Estimate e{.value = 4};
    add_error(e, "scatter", 0.3);
    add_error(e, "loop_control", 0.4);
    EXPECT_DOUBLE_EQ(*e.std_error, 0.5);
    EXPECT_EQ(error_terms_text(e), "loop control 0.4 (64 %), scatter 0.3 (36 %)");
    EXPECT_EQ(error_terms_text({.value = 4, .std_error = 1}), "");
}

TEST(TimingTable, ABoundOfUnknownSenseIsStillMarked) {
    const auto p = profile(
        "{name: x}", "  a: {subsystem: alu, cpi: {value: 2, identifiable: false}, latency: 3}\n");
    EXPECT_NE(
        report::format_timing_table(report::timing_table({p}), report::TableFormat::markdown, false)
            .find("| bound 2 / 3 |"),
        std::string::npos);
}

TEST(TimingTable, AnInstructionOfFourWarpsShowsItsWholeTime) {
    const auto p = profile("{name: x}",
                           "  wgmma.m64n256k16.f32.f16: {subsystem: alu, cpi: 32, latency: 160, "
                           "warps_per_instruction: 4}\n");
    const report::TimingTable one = report::timing_table({p});
    EXPECT_NE(report::format_timing_table(one, report::TableFormat::markdown, false)
                  .find("| 32 (128 per 4 warps) / 160 |"),
              std::string::npos);
    EXPECT_NE(report::format_timing_table(one, report::TableFormat::csv, false).find(",,4\n"),
              std::string::npos);
    const auto json =
        nlohmann::json::parse(report::format_timing_table(one, report::TableFormat::json, false));
    EXPECT_EQ(json["instructions"][0]["timings"][0]["warps_per_instruction"], 4);
    EXPECT_EQ(parse_profile(format_profile(p), "again.yaml"), p);
    EXPECT_THROW(profile("{name: x}",
                         "  a: {subsystem: alu, cpi: 1, latency: 1, "
                         "warps_per_instruction: 0}\n"),
                 InputError);
}

TEST(TimingTable, ColumnsAreHeadedByNameWhereTheArchitectureIsAmbiguous) {
    auto profiles = two_profiles();
    profiles[1].device.architecture = "One";
    const std::string text = report::format_timing_table(report::timing_table(profiles),
                                                         report::TableFormat::markdown, false);
    EXPECT_EQ(text.substr(0, text.find('\n')), "| λ / Λ   |            First | Second, & last |");
}

TEST(TimingTable, CsvHasOneNumberPerColumnWithAllDigits) {
    EXPECT_EQ(table(report::TableFormat::csv),
              "instruction,device,architecture,λ,λ std_error,λ identifiable,Λ,Λ std_error,"
              "Λ identifiable,source,λ bound,Λ bound,λ per scheduler,warps per instruction\n"
              "fma.f32,First,One,0.250123,0.00123,true,10.98,0.4,false,measured,,upper,,1\n"
              "fma.f32,\"Second, & last\",Two,1,,true,3,,false,literature,,lower,,1\n"
              "mul.f32,\"Second, & last\",Two,0.375,,true,6,,true,literature,,,,1\n");
}

TEST(TimingTable, LatexEscapesWhatLatexWouldEat) {
    auto profiles = two_profiles();
    profiles[1].device.architecture = "One";
    EXPECT_EQ(report::format_timing_table(report::timing_table(profiles),
                                          report::TableFormat::latex, true),
              "\\begin{tabular}{lrr}\n"
              "\\hline\n"
              "$\\lambda$ / $\\Lambda$ & First & Second, \\& last \\\\\n"
              "\\hline\n"
              "\\texttt{fma.f32} & 0.2501 $\\pm$ 0.0012 / $\\le$ 10.98 & 1 / $\\ge$ 3 "
              "\\\\\n"
              "\\texttt{mul.f32} & -- & 0.375 / 6 \\\\\n"
              "\\hline\n"
              "\\end{tabular}\n");
}

TEST(TimingTable, JsonHoldsNumbers) {
    const auto json = nlohmann::json::parse(table(report::TableFormat::json));
    EXPECT_EQ(json["format"], "occupipe-table/1");
    EXPECT_EQ(json["devices"][1]["name"], "Second, & last");
    const auto& fma = json["instructions"][0];
    EXPECT_EQ(fma["name"], "fma.f32");
    EXPECT_EQ(fma["timings"][0]["cpi"]["value"], 0.250123);
    EXPECT_EQ(fma["timings"][0]["cpi"]["std_error"], 0.00123);
    EXPECT_EQ(fma["timings"][0]["latency"]["identifiable"], false);
    EXPECT_EQ(fma["timings"][0]["latency"]["bound"], "upper");
    EXPECT_FALSE(fma["timings"][0]["cpi"].contains("bound"));
    EXPECT_FALSE(fma["timings"][1]["cpi"].contains("std_error"));
    EXPECT_TRUE(json["instructions"][1]["timings"][0].is_null());
}

TEST(DisplayWidth, CountsTerminalColumns) {
    EXPECT_EQ(report::display_width("abc"), 3U);
    EXPECT_EQ(report::display_width("λ / Λ"), 5U);
    EXPECT_EQ(report::display_width("e\xcc\x81"), 1U);  // e and a combining acute accent
    EXPECT_EQ(report::display_width("日本"), 4U);
    EXPECT_EQ(report::display_width("\xce"), 1U);  // cut off, but no reading beyond the end
}

TEST(TextTable, PlainTextPadsAndTrims) {
    EXPECT_EQ(
        report::plain_text(
            {{"λ", "n"}, {report::Align::left, report::Align::right}, {{"a|b", "1"}, {"c", "20"}}}),
        "λ     n\n"
        "a|b   1\n"
        "c    20\n");
}

TEST(TextTable, MarkdownEscapesBars) {
    EXPECT_EQ(
        report::markdown({{"x", "n"}, {report::Align::left, report::Align::right}, {{"a|b", "1"}}}),
        "| x    |   n |\n"
        "| ---- | --: |\n"
        "| a\\|b |   1 |\n");
}

}  // namespace
}  // namespace occupipe::report
