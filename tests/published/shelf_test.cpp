// SPDX-License-Identifier: MIT
#include "published/shelf.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <iostream>
#include <random>
#include <string>

#include "core/error.h"
#include "core/files/files.h"
#include "published/held_out.h"
#include "published/published_files.h"

namespace occupipe::analysis {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string reason(const std::function<void()>& call) {
    try {
        call();
    } catch (const InputError& error) {
        return error.what();
    }
    return "nothing was wrong";
}

// Three sources, 4, 5 and 9, of spread 1: the median is 5, the squares 1 + 0 + 16, and
// s² = (3·1 + 17) / (3 + 2) = 4, a further source 2·√(4/3) away.
TEST(Combine, IsTheMedianWithTheSpreadBetweenSources) {
    const std::vector<SourceFigure> three = {{.value = 4}, {.value = 9}, {.value = 5}};
    const Combined made = combine(three, {.relative = 0, .cycles = 1}, true);
    EXPECT_EQ(made.value, 5);
    EXPECT_NEAR(made.std_error, 2 * std::sqrt(4.0 / 3), 1e-12);
    EXPECT_FALSE(made.reference);
}

TEST(Combine, TakesTheVendorsWhereThatIsTheReference) {
    const std::vector<SourceFigure> two = {{.value = 4, .reference = true}, {.value = 6}};
    EXPECT_EQ(combine(two, {.relative = 0, .cycles = 1}, true).value, 4);
    EXPECT_EQ(combine(two, {.relative = 0, .cycles = 1}, false).value, 5);
}

// One alone is as uncertain as the kind's spread and its own.
TEST(Combine, WidensASingleSource) {
    const std::vector<SourceFigure> one = {{.value = 100}};
    EXPECT_NEAR(combine(one, {.relative = 0.1, .cycles = 0}, true).std_error, 10 * std::sqrt(2.0),
                1e-12);
}

// Checked against kernels on a real RTX 2080 Ti.
TEST(Shelf, TheWorkedExampleOfTheRtx2080Ti) {
    const GpuProfile profile = shelf_profile("rtx-2080-ti").value();
    EXPECT_EQ(profile.cores, 68);
    EXPECT_EQ(profile.clock_hz, 1545e6);
    EXPECT_EQ(profile.issue.schedulers, 4);
    EXPECT_EQ(*profile.issue.limit, 4);
    struct Row {
        const char* name;
        double cpi, latency;
    };
    for (const Row& row :
         {Row{"fma.f32", 0.5, 4}, Row{"add.f32", 0.5, 4}, Row{"mul.f32", 0.5, 4},
          Row{"mad.s32", 0.5, 5}, Row{"rcp.approx.ftz.f32", 2, 15}, Row{"ld.shared.u32", 2, 23},
          Row{"ld.global.l1.u32", 2.18, 32}, Row{"ld.global.l2.u32", 8.2, 188},
          Row{"ld.global.u32", 24.3, 434}, Row{"bar.sync", 2, 22}}) {
        const InstructionTiming* const timing = profile.find_instruction(row.name);
        ASSERT_NE(timing, nullptr) << row.name;
        const Estimate cpi = profile.cpi_per_core(*timing);
        EXPECT_LE(std::abs(cpi.value - row.cpi), 2 * *cpi.std_error) << row.name << cpi.value;
        EXPECT_LE(std::abs(timing->latency->value - row.latency), 2 * *timing->latency->std_error)
            << row.name << timing->latency->value;
        EXPECT_LT(*cpi.std_error, 0.4 * cpi.value) << row.name;
    }
    EXPECT_EQ(profile.find_instruction("fma.f32")->cpi.value, 2);  // of a scheduler's copy
}

TEST(Shelf, EveryCardIsAWholeProfile) {
    EXPECT_GE(built_in_shelf().cards.size(), 30U);
    for (const ShelfCard& card : built_in_shelf().cards) {
        const GpuProfile profile = shelf_profile(card);
        const std::string text = format_profile(profile);
        EXPECT_EQ(parse_profile(text, card.id), profile) << card.id;
        for (const InstructionTiming& one : profile.instructions) {
            EXPECT_TRUE(one.cpi.std_error) << card.id << one.name;
            EXPECT_FALSE(one.reference.empty()) << card.id << one.name;
            EXPECT_FALSE(one.cpi.note.empty()) << card.id << one.name;  // the sources
            if (one.latency) {
                EXPECT_TRUE(one.latency->std_error) << card.id << one.name;
            } else {
                EXPECT_TRUE(one.name.starts_with("st")) << card.id << one.name;
            }
        }
        EXPECT_GE(profile.memory_levels.size(), 3U) << card.id;
        if (card.id == "mi100") continue;  // no rates of arithmetic are published
        const MatchDevice& match = profile.match;
        for (const auto* const number :
             {&match.flops_per_second, &match.fast_bytes_per_second, &match.fast_latency_seconds,
              &match.slow_bytes_per_second, &match.slow_latency_seconds,
              &match.synchronisation_seconds})
            EXPECT_TRUE(*number && (*number)->std_error &&
                        *(*number)->std_error < 0.6 * (*number)->value)
                << card.id;
        EXPECT_TRUE(match.processors && match.fast_bytes && match.line_bytes) << card.id;
        EXPECT_GT(match.fast_bytes_per_second->value, match.slow_bytes_per_second->value)
            << card.id;
    }
}

// The reference's 0.5 per core on 80 cores, and the peak that Volta's whitepaper states: 15.7
// TFLOP/s in single precision, 7.8 in double.
TEST(Shelf, MatchNumbersGiveThePublishedPeaks) {
    const GpuProfile profile = shelf_profile("v100").value();
    EXPECT_EQ(profile.match.processors, 5120);
    EXPECT_NEAR(5120 * profile.match.f32_flops_per_second->value, 15.7e12, 0.05e12);
    EXPECT_NEAR(5120 * profile.match.flops_per_second->value, 7.8e12, 0.05e12);
}

// Two-way conflicts: free where a request takes two cycles anyway, twice as long on GA100, two
// cycles a pass on Turing.
TEST(Shelf, ConflictsCostRequestsOrPasses) {
    const auto cycles = [](const char* card, std::size_t row) {
        const GpuProfile profile = shelf_profile(card).value();
        return profile.find_instruction("ld.shared.u32")->tables.at(0).rows.at(row).cpi->value;
    };
    EXPECT_EQ(cycles("a6000", 0), 2);
    EXPECT_EQ(cycles("a6000", 1), 2);
    EXPECT_EQ(cycles("a6000", 2), 4);
    EXPECT_EQ(cycles("a100", 0), 1);
    EXPECT_EQ(cycles("a100", 1), 2);
    EXPECT_EQ(cycles("rtx-2080-ti", 0), 2);
    EXPECT_EQ(cycles("rtx-2080-ti", 1), 4);
}

// Whitepaper of GA102: 142 TFLOPS into half precision, 71 into single on the RTX 3090; the
// professional cards have no such difference.
TEST(Shelf, GeForceCardsSumInSinglePrecisionAtHalfTheRate) {
    const auto times = [](const char* card) {
        const GpuProfile profile = shelf_profile(card).value();
        return profile.find_instruction("mma.m16n8k16.f32.f16")->cpi.value /
               profile.find_instruction("mma.m16n8k16.f16.f16")->cpi.value;
    };
    EXPECT_DOUBLE_EQ(times("rtx-3090"), 2);
    EXPECT_DOUBLE_EQ(times("a6000"), 1);
}

TEST(Shelf, WhatNobodyPublishedIsAssumedAndSaysWhatStandsForIt) {
    const GpuProfile profile = shelf_profile("rtx-3090").value();
    const InstructionTiming& doubles = *profile.find_instruction("fma.f64");
    EXPECT_EQ(doubles.source, Source::assumed);
    EXPECT_THAT(doubles.latency->note, AllOf(HasSubstr("not published for 8.6"), HasSubstr("7.5")));
    EXPECT_GT(*doubles.latency->std_error, 0.2 * doubles.latency->value);
    EXPECT_EQ(profile.find_instruction("fma.f32")->source, Source::vendor);
}

TEST(DataSheet, MakesAProfileFromFiveNumbers) {
    const ShelfCard card =
        parse_datasheet("sm_86:cores=46,clock_hz=1.77e9,dram=448e9,l2=4MiB,name=mine");
    EXPECT_EQ(card.capability, "8.6");
    EXPECT_EQ(card.cores, 46);
    EXPECT_EQ(card.clock_hz, 1.77e9);
    EXPECT_EQ(card.l2_bytes, 4.0 * 1024 * 1024);
    const GpuProfile profile = shelf_profile(card);
    EXPECT_EQ(profile.device.name, "mine");
    EXPECT_EQ(profile.find_instruction("fma.f32")->cpi.value, 1);
    EXPECT_EQ(parse_card("format: occupipe-card/1\nname: mine\ncompute_capability: \"8.6\"\n"
                         "cores: 46\nclock_hz: 1.77e9\ndram_bytes_per_second: 448e9\n"
                         "l2_bytes: 4194304\n",
                         "card.yaml")
                  .l2_bytes,
              card.l2_bytes);
}

TEST(DataSheet, FaultsNameTheKey) {
    const auto fault = [](const char* text) { return reason([&] { parse_datasheet(text); }); };
    EXPECT_THAT(fault("sm_86:cores=46"), HasSubstr("clock_hz: is missing"));
    EXPECT_THAT(fault("sm_86:cores=0,clock_hz=1,dram=1,l2=1"), HasSubstr("cores: '0' is not"));
    EXPECT_THAT(fault("sm_86:cores=1.5,clock_hz=1,dram=1,l2=1"), HasSubstr("cores: 1.5 is not"));
    EXPECT_THAT(fault("sm_86:cores=1,cores=1"), HasSubstr("cores: is given twice"));
    EXPECT_THAT(fault("sm_86:sms=1"), HasSubstr("sms: unknown key"));
    EXPECT_THAT(fault("sm_86:l2=4MB"), HasSubstr("l2: '4MB' is not a positive number"));
    EXPECT_THAT(fault("sm_86:l2"), HasSubstr("l2: has no value"));
    EXPECT_THAT(fault("sm_61:cores=1,clock_hz=1e9,dram=1e9,l2=1MiB"),
                HasSubstr("no figures of '6.1'"));
    EXPECT_THAT(fault("sm_86:cores=1,clock_hz=1e9,dram=1e9,l2=1"), HasSubstr("l2_bytes: must be"));
    EXPECT_THAT(reason([] { parse_card("format: occupipe-card/2\n", "c.yaml"); }),
                HasSubstr("c.yaml:1:9: format: unknown format"));
    EXPECT_THAT(
        reason([] { parse_card("format: occupipe-card/1\ncores: 4\nwarps: 3\n", "c.yaml"); }),
        HasSubstr("c.yaml:3:1: warps: unknown key"));
}

TEST(Shelf, MutatedFilesAreReadOrRefused) {
    std::mt19937_64 random(11);
    int refused = 0;
    for (int trial = 0; trial < 100; ++trial) {
        std::string text(embedded(published::published_files(), published::shelf_file));
        for (int i = 0; i < 3; ++i)
            text[random() % text.size()] = static_cast<char>(' ' + random() % 95);
        try {
            parse_shelf(text, "m.yaml");
        } catch (const InputError&) {
            ++refused;
        }
    }
    EXPECT_GT(refused, 20);
}

// Leave one source out: what it says against what is left. docs/background/shelf.md has this table.
TEST(Shelf, HeldOutSourcesAreWithinTwoErrors) {
    const auto all = held_out(built_in_shelf(), built_in_published());
    for (const HeldOutSummary& row : summary_of(all)) {
        std::cout << fmt::format(
            "{:12} {:4} values, {:3} of nobody else, median error {:.1f} %, "
            "within two errors {:.1f} %\n",
            row.kind, row.values, row.alone, 100 * row.median_error, 100 * row.within);
        EXPECT_GE(row.within, 0.90) << row.kind;
        EXPECT_LE(row.within, 0.98) << row.kind;
        const double most = row.kind == "arithmetic" ? 0.10 : row.kind == "caches" ? 0.15 : 0.20;
        EXPECT_LE(row.median_error, most) << row.kind;
    }
}

}  // namespace
}  // namespace occupipe::analysis
