// SPDX-License-Identifier: MIT
#include "core/files/launch_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <regex>

#include "core/files/files.h"
#include "tests/support/random_values.h"
#include "tests/support/temporary_folder.h"

namespace occupipe {
namespace {

constexpr const char* good =
    R"(occupipe_launches: 1
source: saxpy.cu
architecture: sm_90
compiler_options: [-fmad=false]
buffers:
  x: {type: f32, count: 1024, fill: {random: [-1, 1], seed: 9}}
  y: {type: f32, count: 1024, fill: iota}
  n: {type: u8, count: 3, fill: {values: [1, 2, 0xff]}}
)";
constexpr const char* good_end =
    R"(symbols:
  table: {type: f64, count: 2, fill: {value: 0.5}}
launches:
  - {kernel: saxpy, grid: 4, block: [16, 16], shared_bytes: 64, arguments: [{buffer: x, offset: 16}, {f32: 2.5}, {bytes: 00fF}]}
  - repeat: 10
    launches:
      - {kernel: k, grid: [1, 2, 3], block: 32, arguments: [{struct: [{buffer: y}, {i16: -3}]}, {local: 512}]}
      - swap: [x, y]
  - {set: y, fill: {permutation: true, seed: 3}}
  - {copy: x, to: y}
check: [x, {buffer: y, against: y.bin, relative: 1e-6, absolute: 0.5}]
)";

const std::string good_text = std::string(good) + good_end;

TEST(LaunchFile, EveryKeyArrives) {
    const LaunchPlan plan = parse_launches(good_text, "l.yaml", "/folder");
    EXPECT_EQ(plan.source, "/folder/saxpy.cu");
    EXPECT_EQ(plan.architecture, "sm_90");
    EXPECT_EQ(plan.compiler_options, std::vector<std::string>{"-fmad=false"});
    ASSERT_EQ(plan.buffers.size(), 3U);
    EXPECT_EQ(plan.buffers[0].fill.seed, 9U);
    EXPECT_EQ(plan.buffers[0].fill.high, "1");
    EXPECT_EQ(plan.buffers[2].fill.listed, (std::vector<std::string>{"1", "2", "0xff"}));
    EXPECT_EQ(plan.symbols.at(0).bytes(), 16U);
    ASSERT_EQ(plan.steps.size(), 4U);
    const auto& first = std::get<KernelLaunch>(plan.steps[0]);
    EXPECT_EQ(first.grid, (std::array<std::uint32_t, 3>{4, 1, 1}));
    EXPECT_EQ(first.block, (std::array<std::uint32_t, 3>{16, 16, 1}));
    EXPECT_EQ(first.shared_bytes, 64U);
    ASSERT_EQ(first.arguments.size(), 3U);
    EXPECT_EQ(first.arguments[0].offset, 16U);
    EXPECT_EQ(first.arguments[1].text, "2.5");
    EXPECT_EQ(first.arguments[2].content, (std::vector<std::uint8_t>{0, 255}));
    EXPECT_EQ(first.arguments[1].where.line, 12);
    const auto& repeat = std::get<RepeatSteps>(plan.steps[1]);
    EXPECT_EQ(repeat.times, 10U);
    const auto& inner = std::get<KernelLaunch>(repeat.steps.at(0));
    EXPECT_EQ(inner.arguments[0].fields.at(1).text, "-3");
    EXPECT_EQ(inner.arguments[1].size, 512U);
    EXPECT_EQ(std::get<SwapBuffers>(repeat.steps.at(1)).names[1], "y");
    EXPECT_EQ(std::get<SetBuffer>(plan.steps[2]).fill.kind, BufferFill::Kind::permutation);
    EXPECT_EQ(std::get<CopyBuffer>(plan.steps[3]).to, "y");
    ASSERT_EQ(plan.checks.size(), 2U);
    EXPECT_EQ(plan.checks[1].against, "/folder/y.bin");
    EXPECT_EQ(plan.checks[1].relative, 1e-6);
    EXPECT_EQ(launch_count(plan), 11U);
}

// What stands in the good file, what takes its place, and what is said about it.
struct Mistake {
    const char* from;
    const char* to;
    const char* message;
};

constexpr Mistake mistakes[] = {
    {"occupipe_launches: 1", "occupipe_launches: 2",
     "l.yaml:1: occupipe_launches: unknown version '2'; expected 1"},
    {"occupipe_launches: 1\n", "", "l.yaml:1: occupipe_launches: is missing"},
    {"source: saxpy.cu", "sources: saxpy.cu",
     "l.yaml:2: sources: unknown key; known here: occupipe_launches, source, architecture, "
     "compiler_options, buffers, symbols, launches, check"},
    {"type: f32, count: 1024, fill: iota", "type: float, count: 1024, fill: iota",
     "l.yaml:7: buffers.y.type: 'float' is not one of i8, u8, i16, u16, f16, bf16, i32, u32, "
     "f32, i64, u64, f64"},
    {"type: f32, count: 1024, fill: iota", "type: f32, fill: iota",
     "l.yaml:7: buffers.y.count: is missing"},
    {"count: 1024, fill: iota", "count: 0, fill: iota",
     "l.yaml:7: buffers.y.count: must be a whole number from 1 to 9223372036854775807, not 0"},
    {"count: 1024, fill: iota", "count: 17179869184, fill: iota",
     "l.yaml:7: buffers.y.count: all buffers together may have 64 GiB"},
    {"fill: iota", "fill: twos",
     "l.yaml:7: buffers.y.fill: 'twos' is not zeros, ones, iota, {iota: {start: V, step: V}}, "
     "{value: V}, {values: [V, …]}, {random: [LOW, HIGH], seed: N, integers: true}, {permutation: "
     "true, seed: N} or {file: PATH}"},
    {"fill: iota", "fill: {value: 1, random: [0, 1]}",
     "l.yaml:7: buffers.y.fill: must be one of zeros, ones, iota, {iota: {start: V, step: V}}, "
     "{value: V}, {values: [V, …]}, {random: [LOW, HIGH], seed: N, integers: true}, {permutation: "
     "true, seed: N} or {file: PATH}"},
    {"fill: iota", "fill: {value: 1, seed: 3}",
     "l.yaml:7: buffers.y.fill.seed: is for random and permutation"},
    {"random: [-1, 1], seed: 9", "random: [1, -1], seed: 9",
     "l.yaml:6: buffers.x.fill: 1 is greater than -1"},
    {"random: [-1, 1], seed: 9", "random: [-1, 1], seed: -9",
     "l.yaml:6: buffers.x.fill.seed: -9 is not from 0 to 18446744073709551615 (u64)"},
    {"random: [-1, 1], seed: 9", "random: 1", "l.yaml:6: buffers.x.fill.random: must be a list"},
    {"[1, 2, 0xff]", "[1, 2, 256]",
     "l.yaml:8: buffers.n.fill.values[2]: 256 is not from 0 to 255 (u8)"},
    {"[1, 2, 0xff]", "[1, 2]", "l.yaml:8: buffers.n.fill: 2 values for a buffer of 3"},
    {"{f32: 2.5}", "{f32: \"2.5\"}", "l.yaml:12: launches[0].arguments[1].f32: must be a number"},
    {"{f32: 2.5}", "{i32: 2.5}",
     "l.yaml:12: launches[0].arguments[1].i32: '2.5' is not a whole number"},
    {"{f32: 2.5}", "{f3: 2.5}",
     "l.yaml:12: launches[0].arguments[1].f3: unknown kind of argument; near: f32; known are "
     "buffer, bytes, struct, local, i8, u8, i16, u16, f16, bf16, i32, u32, f32, i64, u64, f64"},
    {"{f32: 2.5}", "2.5", "l.yaml:12: launches[0].arguments[1]: must be a map"},
    {"{f32: 2.5}", "{f32: 2.5, i32: 1}",
     "l.yaml:12: launches[0].arguments[1]: must be one of {buffer: NAME, offset: BYTES}, {TYPE: "
     "NUMBER}, {bytes: HEX}, {struct: [ARGUMENT, …]}, {local: BYTES}, not 2 keys"},
    {"{bytes: 00fF}", "{bytes: 00f}",
     "l.yaml:12: launches[0].arguments[2].bytes: must be two hexadecimal digits for each byte"},
    {"{bytes: 00fF}", "{bytes: 00fg}",
     "l.yaml:12: launches[0].arguments[2].bytes: 'g' is not a hexadecimal digit"},
    {"buffer: x, offset: 16", "buffer: z",
     "l.yaml:12: launches[0].arguments[0].buffer: no buffer 'z'; near: x, y, n"},
    {"offset: 16", "offset: 4097",
     "l.yaml:12: launches[0].arguments[0].offset: must be a whole number from 0 to 4096, not "
     "4097"},
    {"block: [16, 16]", "block: [64, 32]",
     "l.yaml:12: launches[0].block: 2048 threads; a group has at most 1024"},
    {"block: [16, 16]", "block: [1, 1, 65]",
     "l.yaml:12: launches[0].block[2]: must be a whole number from 1 to 64, not 65"},
    {"grid: 4", "grid: [4, 70000]",
     "l.yaml:12: launches[0].grid[1]: must be a whole number from 1 to 65535, not 70000"},
    {"grid: 4", "grid: []",
     "l.yaml:12: launches[0].grid: must be one to three whole numbers: [x, y, z]"},
    {"kernel: saxpy, ", "", "l.yaml:12: launches[0].kernel: is missing"},
    {"shared_bytes: 64", "shared_bytes: 300000",
     "l.yaml:12: launches[0].shared_bytes: must be a whole number from 0 to 232448, not "
     "300000"},
    {"repeat: 10", "repeat: 0",
     "l.yaml:13: launches[1].repeat: must be a whole number from 1 to 9223372036854775807, not "
     "0"},
    {"swap: [x, y]", "swap: [x, n]",
     "l.yaml:16: launches[1].launches[1].swap: 'x' has 4096 bytes and 'n' has 3"},
    {"swap: [x, y]", "swap: [x]",
     "l.yaml:16: launches[1].launches[1].swap: must be two buffers: [a, b]"},
    {"copy: x, to: y", "copy: x, to: n",
     "l.yaml:18: launches[3].to: 'x' has 4096 bytes and 'n' has 3"},
    {"{set: y, fill: {permutation: true, seed: 3}}", "{set: y, fill: {permutation: false}}",
     "l.yaml:17: launches[2].fill.permutation: must be true"},
    {"fill: iota", "fill: {iota: {start: 0, stop: 1}}",
     "l.yaml:7: buffers.y.fill.iota.stop: unknown key; known here: start, step"},
    {"fill: iota", "fill: {value: 1, integers: true}",
     "l.yaml:7: buffers.y.fill.integers: is for random"},
    {"random: [-1, 1], seed: 9", "random: [-1.5, 1], integers: true",
     "l.yaml:6: buffers.x.fill.random[0]: '-1.5' is not a whole number"},
    {"check: [x,", "check: [z,", "l.yaml:19: check[0]: no buffer 'z'; near: x, y, n"},
    {"against: y.bin, ", "", "l.yaml:19: check[1].absolute: is for a comparison ('against')"},
    {"relative: 1e-6", "relative: -1", "l.yaml:19: check[1].relative: must not be negative"},
};

TEST(LaunchFile, RefusesWithFileLineAndKey) {
    for (const Mistake& mistake : mistakes) {
        std::string text = good_text;
        const std::size_t at = text.find(mistake.from);
        ASSERT_NE(at, std::string::npos) << mistake.from;
        text.replace(at, std::string(mistake.from).size(), mistake.to);
        try {
            parse_launches(text, "l.yaml");
            ADD_FAILURE() << "taken: " << mistake.to;
        } catch (const InputError& error) {
            // All but the column, which every value has.
            const std::string message =
                std::regex_replace(std::string(error.what()), std::regex("^(l.yaml:[0-9]+):[0-9]+"),
                                   "$1", std::regex_constants::format_first_only);
            EXPECT_NE(message, error.what());
            EXPECT_EQ(message, mistake.message) << mistake.to;
        }
    }
}

TEST(LaunchFile, ReadsContentsFromAFileBesideIt) {
    const test::TemporaryFolder folder;
    std::ofstream(folder.path / "in.bin", std::ios::binary) << "abcdefgh";
    const std::string text =
        "occupipe_launches: 1\nbuffers:\n  a: {type: u16, count: COUNT, fill: {file: in.bin}}\n"
        "launches: [{kernel: k, grid: 1, block: 32}]\n";
    const auto contents = [&](const std::string& count) {
        std::string counted = text;
        counted.replace(counted.find("COUNT"), 5, count);
        write_text_file(folder.path / "l.yaml", counted, Overwrite::yes);
        const LaunchPlan plan = read_launches(folder.path / "l.yaml");
        return buffer_contents(plan, plan.buffers[0], plan.buffers[0].fill);
    };
    EXPECT_EQ(contents("4").at(7), std::byte{'h'});
    try {
        contents("5");
        ADD_FAILURE();
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("l.yaml:3:3: buffers.a: "), std::string::npos);
        EXPECT_NE(std::string(error.what()).find("has 8 bytes; 5 elements of u16 are 10"),
                  std::string::npos);
    }
}

TEST(LaunchArguments, AreReadAsACommandLineSpellsThem) {
    LaunchPlan plan;
    const auto arguments = parse_arguments(
        " x=f32[1024]:random(-1,1,5)  x+512 i32[3]:values(1,2,3) 2.5 -7 u8:255 bytes:00ff "
        "local:64 p=i32[9]:permutation(4)",
        plan);
    ASSERT_EQ(arguments.size(), 9U);
    ASSERT_EQ(plan.buffers.size(), 3U);
    EXPECT_EQ(plan.buffers[0].fill.low, "-1");
    EXPECT_EQ(plan.buffers[0].fill.seed, 5U);
    EXPECT_EQ(arguments[1].buffer, "x");
    EXPECT_EQ(arguments[1].offset, 512U);
    EXPECT_EQ(plan.buffers[1].name, "argument2");
    EXPECT_EQ(arguments[3].kind, ArgumentPlan::Kind::number);
    EXPECT_EQ(arguments[4].text, "-7");
    EXPECT_EQ(arguments[5].type, ElementType::u8);
    EXPECT_EQ(arguments[6].content, (std::vector<std::uint8_t>{0, 255}));
    EXPECT_EQ(arguments[7].size, 64U);
    EXPECT_EQ(plan.buffers[2].fill.seed, 4U);
    const BufferPlan whole = parse_buffer("i16[4]:random");
    EXPECT_EQ(whole.fill.low + " " + whole.fill.high, "0 99");
    EXPECT_EQ(parse_buffer("f16[4]:random").fill.high, "1");
    EXPECT_EQ(parse_buffer("f16[4]").fill.kind, BufferFill::Kind::zeros);
}

TEST(LaunchArguments, RefusalsQuoteTheWord) {
    const std::pair<const char*, const char*> cases[] = {
        {"x=f32[4] y",
         "'y': neither a number nor a buffer named before; near: x; a new one is "
         "NAME=TYPE[COUNT]:PATTERN"},
        {"x=f32[4] x=f32[4]",
         "'x=f32[4]': there is a buffer 'x' already; its name alone passes it again"},
        {"f31[4]",
         "'f31[4]': 'f31' is not one of i8, u8, i16, u16, f16, bf16, i32, u32, f32, "
         "i64, u64, f64"},
        {"f32[0]", "'f32[0]': a buffer has at least one element"},
        {"f32[x]", "'f32[x]': 'x' is not a whole number"},
        {"f32[4]iota", "'f32[4]iota': expected ':' and a pattern after the count"},
        {"f32[4]:twos",
         "'f32[4]:twos': 'twos' is not one of zeros, ones, iota, value, values, "
         "random, integers, permutation, file"},
        {"f32[4]:random(1)", "'f32[4]:random(1)': random does not take 1 word in brackets"},
        {"f32[4]:random(1,2", "'f32[4]:random(1,2': the bracket is not closed"},
        {"u8[4]:value(300)", "'u8[4]:value(300)': 300 is not from 0 to 255 (u8)"},
        {"f32[4] argument0+17", "'argument0+17': the buffer has 16 bytes"},
        {"i32:1.5", "'i32:1.5': '1.5' is not a whole number"},
        {"bytes:0", "'bytes:0': must be two hexadecimal digits for each byte"},
        {"local:0", "'local:0': must be 1 to 232448 bytes"},
        {"f32[99999999999]", "'f32[99999999999]': all buffers together may have 64 GiB"},
        {"a,b=f32[4]", "'a,b=f32[4]': a name must not contain ','"},
    };
    for (const auto& [text, message] : cases) {
        LaunchPlan plan;
        try {
            parse_arguments(text, plan);
            ADD_FAILURE() << "taken: " << text;
        } catch (const InputError& error) {
            EXPECT_STREQ(error.what(), message);
        }
    }
}

TEST(LaunchFile, WhateverStandsInItIsReadOrRefusedInOneLine) {
    for (std::uint64_t seed = 0; seed < 4000; ++seed) {
        test::RandomValues random(seed);
        std::string text = good_text;
        for (std::int64_t n = random.between(1, 3); n > 0 && !text.empty(); --n) {
            const auto at = static_cast<std::size_t>(
                random.between(0, static_cast<std::int64_t>(text.size()) - 1));
            const auto length = static_cast<std::size_t>(random.between(1, 12));
            if (random.chance(0.5))
                text.erase(at, length);
            else
                text.insert(at, text.substr(text.size() - 1 - at, length));
        }
        try {
            parse_launches(text, "file");
        } catch (const InputError& fault) {
            const std::string message = fault.what();
            ASSERT_EQ(message.substr(0, 5), "file:") << "seed " << seed << ": " << message;
            ASSERT_EQ(message.find('\n'), std::string::npos) << "seed " << seed << ": " << message;
        }
    }
}

}  // namespace
}  // namespace occupipe
