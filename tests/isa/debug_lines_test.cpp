// SPDX-License-Identifier: MIT
#include "isa/debug_lines.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/random_values.h"

namespace occupipe::isa {
namespace {

// What NVRTC 13.0 wrote for a kernel of seven lines (sm_90), but for its folder.
std::string of_saxpy() {
    std::string program;
    const auto bytes = [&](std::initializer_list<int> values) {
        for (const int value : values) program.push_back(static_cast<char>(value));
    };
    bytes({2, 0});                // version
    bytes({49, 0, 0, 0});         // bytes of the header that follow
    bytes({1, 1, 0xfb, 14, 10});  // step, is_stmt, line base -5, line range, first special opcode
    bytes({0, 1, 1, 1, 1, 0, 0, 0, 1});
    program += std::string("/x\0\0", 4);
    program += std::string("saxpy.cu\0", 9);
    bytes({1, 0xcb, 0x9a, 1, 7});  // folder, time (three bytes), size
    program += std::string("atomic.hpp\0", 11);
    bytes({1, 1, 1, 0});
    while (program.size() < 2 + 4 + 49) bytes({0});
    bytes({0, 9, 2, 0, 0, 0, 0, 0, 0, 0, 0});  // address 0
    bytes({4, 1});                             // file 1
    bytes({3, 1, 1});                          // line 2
    bytes({6 + 14 * 16 + 10});                 // special: 16 bytes on, line 3
    bytes({3, 1, 2, 64, 1});                   // 64 bytes on, line 4
    bytes({3, 1, 2, 48, 1});
    // Line 107 of another file, called by row 4, then back.
    bytes({4, 2, 0, 3, 0x90, 4, 7, 3, 0xe6, 0, 2, 16, 1});
    bytes({4, 1, 0, 3, 0x90, 0, 0, 3, 0x9c, 0x7f, 2, 0x90, 1, 1});
    bytes({2, 0xe0, 1, 0, 1, 1});  // end at 0x200
    std::string all;
    for (int i = 0; i < 4; ++i) all.push_back(static_cast<char>(program.size() >> 8 * i));
    return all + program;
}

std::vector<Relocation> at_start() {
    Relocation one;
    one.offset = of_saxpy().find(std::string("\0\x09\x02", 3)) + 3;
    one.symbol.section = ".text.saxpy";
    one.addend = 0;
    return {one};
}

TEST(DebugLines, SayWhichLineAnInstructionComesFrom) {
    auto lines = read_debug_lines(of_saxpy(), at_start());
    ASSERT_EQ(lines.size(), 1U);
    Kernel kernel;
    kernel.lines = lines.at(".text.saxpy");
    EXPECT_EQ(source_line(kernel, 0), "saxpy.cu:2");
    EXPECT_EQ(source_line(kernel, 0x10), "saxpy.cu:3");
    EXPECT_EQ(source_line(kernel, 0x40), "saxpy.cu:3");
    EXPECT_EQ(source_line(kernel, 0x50), "saxpy.cu:4");
    EXPECT_EQ(source_line(kernel, 0x80), "saxpy.cu:5");
    EXPECT_EQ(source_line(kernel, 0x90), "saxpy.cu:5");
    EXPECT_EQ(source_line(kernel, 0x1f0), "saxpy.cu:7");
    EXPECT_EQ(source_line(kernel, 0x200), "");
}

TEST(DebugLines, WithoutACodeSectionTellNothing) {
    EXPECT_TRUE(read_debug_lines(of_saxpy(), {}).empty());
}

TEST(DebugLines, NeverLeaveTheirBytes) {
    const std::string whole = of_saxpy();
    for (std::size_t size = 0; size < whole.size(); ++size)
        read_debug_lines(whole.substr(0, size), at_start());
    for (std::uint64_t seed = 0; seed < 20000; ++seed) {
        test::RandomValues random(seed);
        std::string damaged = whole;
        for (int i = 0; i < 3; ++i)
            damaged[static_cast<std::size_t>(
                random.between(0, static_cast<std::int64_t>(whole.size()) - 1))] =
                static_cast<char>(random.between(0, 255));
        for (const auto& [section, lines] : read_debug_lines(damaged, at_start()))
            EXPECT_TRUE(std::ranges::is_sorted(lines, {}, &SourceLine::address));
    }
}

}  // namespace
}  // namespace occupipe::isa
