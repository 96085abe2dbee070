// SPDX-License-Identifier: MIT
#include "bench/kernel/kernel_source.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

namespace occupipe::bench {
namespace {

std::uint32_t word_at(const std::vector<std::byte>& bytes, std::size_t index) {
    std::uint32_t word = 0;
    std::memcpy(&word, &bytes[4 * index], 4);
    return word;
}

TEST(InstructionTable, NamesAreUniqueAndFound) {
    std::set<std::string_view> names;
    for (const Row& row : instruction_table()) {
        EXPECT_TRUE(names.insert(row.id).second) << row.id;
        EXPECT_EQ(find_row(row.id), &row);
        EXPECT_FALSE(row.meaning.empty()) << row.id;
    }
    EXPECT_EQ(find_row("no.such"), nullptr);
}

TEST(InstructionTable, HasEveryInstructionOfTheFirstIssue) {
    for (const char* id :
         {"add.f32",        "mul.f32",        "fma.f32",          "div.f32",       "sqrt.f32",
          "add.f64",        "mul.f64",        "fma.f64",          "div.f64",       "add.s32",
          "mul.s32",        "mad.s32",        "div.s32",          "shl.b32",       "xor.b32",
          "cos.approx.f32", "ex2.approx.f32", "rsqrt.approx.f32", "ld.shared.u32", "ld.global.u32",
          "ld.global.f32",  "bar.sync"}) {
        EXPECT_NE(find_row(id), nullptr) << id;
    }
}

TEST(KernelSource, TwoChainsOfFmaReadAsExpected) {
    const auto source = kernel_source({.first = find_row("fma.f32"), .chains = 2, .unroll = 2});
    EXPECT_EQ(source.body,
              "// fma.f32 chains:2 unroll:2\n"
              "KERNEL(float)\n"
              "{\n"
              "    const float a = in[0];\n"
              "    const float b = in[1];\n"
              "    (void)a; (void)b;\n"
              "    float x0 = in[2];\n"
              "    float x1 = in[3];\n"
              "    TIMED_BEGIN\n"
              "        LOOP(i, iterations) {\n"
              "            FMA_F32(x0, a, b);\n"
              "            FMA_F32(x1, a, b);\n"
              "            FMA_F32(x0, a, b);\n"
              "            FMA_F32(x1, a, b);\n"
              "        }\n"
              "    TIMED_END(x0 + x1)\n"
              "    out[THREAD] = x0 + x1;\n"
              "}\n");
    ASSERT_EQ(source.operands.size(), 4 * sizeof(float));
}

TEST(KernelSource, AMixHasBetaOfTheFirstBeforeOneOfTheSecond) {
    const KernelPlan plan{.first = find_row("fma.f32"),
                          .second = find_row("cos.approx.f32"),
                          .beta = 3,
                          .chains = 1,
                          .unroll = 8};
    const std::string body = kernel_source(plan).body;
    const std::string period =
        "            FMA_F32(x0, a, b);\n"
        "            FMA_F32(x0, a, b);\n"
        "            FMA_F32(x0, a, b);\n"
        "            COS_APPROX_F32(x0);\n";
    EXPECT_NE(body.find(period + period + "        }"), std::string::npos) << body;
    EXPECT_EQ(plan.subject(), "mix(fma.f32*3,cos.approx.f32)");
}

TEST(KernelSource, UnrollIsAMultipleOfTheMixPeriodAndBounded) {
    for (const Row& row : instruction_table()) {
        for (const int chains : {1, 2, 3, 10}) {
            for (const int beta : {1, 2, 5, 32}) {
                for (const bool cpu : {false, true}) {
                    const int unroll = default_unroll(row, &row, beta, chains, cpu);
                    EXPECT_GE(unroll, 1);
                    if (row.pattern != Pattern::barrier) {
                        EXPECT_EQ(unroll % (beta + 1), 0);
                    }
                    EXPECT_LE(unroll, row.unroll > 0 ? 8192 : cpu ? 128 : 256);
                }
            }
        }
    }
}

// Following the table from line 0 must visit every line once: a shorter cycle would sit in a cache.
TEST(GlobalTable, AChaseIsOneCycleThroughAllLinesInBothOrders) {
    for (const bool random : {false, true}) {
        constexpr std::size_t bytes = 1 << 16;
        constexpr std::size_t line = 128;
        const auto table = global_table({Pattern::global_chase, bytes, line}, random, 3);
        std::set<std::uint32_t> seen;
        std::uint32_t at = 5;  // lane 5 stays in word 5 of each line
        do {
            EXPECT_EQ(at % (line / 4), 5u);
            ASSERT_TRUE(seen.insert(at).second);
            at = word_at(table, at);
        } while (at != 5);
        EXPECT_EQ(seen.size(), bytes / line);
    }
}

TEST(GlobalTable, LinesOfTheirOwnLeadBackToThemselves) {
    const auto table = global_table(
        {.pattern = Pattern::global_chase, .bytes = 4096, .line_bytes = 128, .own_lines = true},
        false, 3);
    for (std::uint32_t word = 0; word < 1024; ++word) EXPECT_EQ(word_at(table, word), word);
}

TEST(GlobalTable, SlackBehindTheEndContinuesTheTable) {
    constexpr std::size_t bytes = 1 << 16;
    const auto table = global_table({Pattern::global_chase, bytes, 64}, true, 3);
    EXPECT_EQ(table.size(), bytes + 4 * global_table_slack_words + global_table_operand_bytes);
    EXPECT_EQ(word_at(table, bytes / 4 + 17), word_at(table, 17));
}

TEST(TableSizes, ALaunchFindsATableInTheCacheWhereItFitsAndElseNothingOfIt) {
    const TableSizes sizes{
        .second_level = 1u << 20, .beyond_caches = 16u << 20, .cache_bytes = 4u << 20};
    EXPECT_EQ(sizes.before_launch({.first = find_row("ld.global.l2.u32")}),
              CacheState::holds_table);
    EXPECT_EQ(sizes.before_launch({.first = find_row("ld.global.u32")}),
              CacheState::holds_nothing_of_table);
    EXPECT_EQ(
        sizes.before_launch({.first = find_row("fma.f32"), .second = find_row("ld.global.f32")}),
        CacheState::holds_nothing_of_table);
    const Row* set = find_row("ld.global.u32.working_set");
    EXPECT_EQ(sizes.before_launch({.first = set, .working_set_bytes = 4u << 20}),
              CacheState::holds_table);
    EXPECT_EQ(sizes.before_launch({.first = set, .working_set_bytes = 8u << 20}),
              CacheState::holds_nothing_of_table);
    EXPECT_EQ(sizes.before_launch({.first = find_row("fma.f32")}), CacheState::as_it_is);
    EXPECT_EQ(TableSizes().before_launch({.first = find_row("ld.global.u32")}),
              CacheState::as_it_is);  // a device that does not tell its cache
}

}  // namespace
}  // namespace occupipe::bench
