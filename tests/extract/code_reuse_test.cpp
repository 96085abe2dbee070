// SPDX-License-Identifier: MIT
#include "extract/code_reuse.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace occupipe::extract {
namespace {

// Instructions of 16 bytes one after another, each of which the stream's numbers name.
struct Code {
    explicit Code(std::uint32_t count) : instructions(count), code(count) {
        for (std::uint32_t i = 0; i < count; ++i) {
            instructions[i].code = i;
            code[i].address = 16 * static_cast<std::int64_t>(i);
        }
    }
    std::vector<StreamInstruction> instructions;
    std::vector<isa::Instruction> code;
};

std::vector<FoldedItem> straight(std::uint32_t begin, std::uint32_t end) {
    std::vector<FoldedItem> items;
    for (std::uint32_t i = begin; i < end; ++i) items.emplace_back(i);
    return items;
}

Reuse points(const Code& code, const std::vector<FoldedItem>& stream) {
    CodeReuse reuse(code.instructions, code.code);
    reuse.add(stream, 1);
    return reuse.points();
}

TEST(CodeReuse, StraightCodeComesAgainAfterAllOfIt) {
    EXPECT_EQ(points(Code(4096), straight(0, 4096)), (Reuse{{65536, 1}}));
    EXPECT_EQ(points(Code(1024), straight(0, 1024)), Reuse{});  // 16 KiB, which every GPU holds
}

TEST(CodeReuse, ALoopComesAgainAfterItsBody) {
    // 48 KiB once, then 4 times 32 KiB: three of the four follow 32 KiB, all else 80 KiB.
    std::vector<FoldedItem> stream = straight(0, 3072);
    stream.emplace_back(FoldedLoop{4, straight(3072, 5120)});
    const Reuse found = points(Code(5120), stream);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].bytes, 32768);
    EXPECT_DOUBLE_EQ(found[0].share, 3 * 2048 / (3072 + 4 * 2048.0));
    EXPECT_EQ(found[1], (ReusePoint{81920, 1}));
}

// Against a search through the unfolded stream.
TEST(CodeReuse, NestedLoopsAreAsUnfolded) {
    const Code code(4000);
    const std::vector<FoldedItem> inner = straight(1500, 3100);
    std::vector<FoldedItem> outer = straight(0, 1400);
    outer.emplace_back(FoldedLoop{3, inner});
    for (const FoldedItem& one : straight(3300, 3600)) outer.push_back(one);
    std::vector<FoldedItem> stream = straight(3600, 4000);
    stream.emplace_back(FoldedLoop{2, outer});

    std::vector<std::uint32_t> twice;
    for (int round = 0; round < 2; ++round)
        unfold(stream, [&](std::uint32_t number) { twice.push_back(number); });
    std::map<std::int64_t, double> executed;  // by KiB, in steps of 4
    std::vector<std::int64_t> lines;          // fetched, latest last
    std::int64_t needed = 1;
    for (std::size_t i = 0; i < twice.size(); ++i) {
        const std::int64_t line = code.code[twice[i]].address / 128;
        if (lines.empty() || lines.back() != line) {
            const auto last = std::ranges::find(lines, line);
            if (last != lines.end()) {
                needed = lines.end() - last;
                lines.erase(last);
            }
            lines.push_back(line);
        }
        if (i >= twice.size() / 2) executed[(needed * 128 + 4095) / 4096 * 4096] += 1;
    }
    Reuse expected;
    double so_far = 0;
    for (const auto& [bytes, times] : executed) {
        so_far += times;
        if (bytes >= 16384)
            expected.push_back({bytes, so_far / static_cast<double>(twice.size() / 2)});
    }
    const Reuse found = points(code, stream);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].bytes, expected[i].bytes);
        EXPECT_DOUBLE_EQ(found[i].share, expected[i].share);
    }
}

TEST(CodeReuse, ClassesAddUpByWhatTheyExecute) {
    const Code code(8192);
    CodeReuse reuse(code.instructions, code.code);
    reuse.add(straight(0, 2048), 0.5);
    reuse.add(straight(0, 6144), 0.5);
    const Reuse found = reuse.points();
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0], (ReusePoint{32768, 0.25}));
    EXPECT_EQ(found[1], (ReusePoint{98304, 1}));
}

}  // namespace
}  // namespace occupipe::extract
