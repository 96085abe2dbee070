// SPDX-License-Identifier: MIT
// Random words: text or a reason, never anything else. tests/fuzz/fuzz_machine_code.cpp does the
// same for hours.
#include <gtest/gtest.h>

#include <random>

#include "core/error.h"
#include "isa/decode.h"

namespace occupipe::isa {
namespace {

TEST(RandomWords, AreTextOrAReason) {
    std::mt19937_64 random(2026);
    int known = 0;
    int unknown = 0;
    for (int i = 0; i < 200000; ++i) {
        Word word = {random(), random()};
        // Half of them with an opcode, a form and little else: these get further.
        if (i % 2 == 0) word = {word.low & random() & random(), word.high & random() & random()};
        for (const int architecture : {75, 90, 120}) {
            const Instruction one = decode(word, 0x40, architecture);
            ASSERT_FALSE(to_text(one, architecture).empty());
            ASSERT_FALSE(to_text(one.control).empty());
            ASSERT_TRUE(!one.opcode.empty() || !one.unknown.empty());
            for (const Operand& operand : one.operands) {
                ASSERT_GE(operand.count, 1);
                ASSERT_LE(operand.number.value_or(0), 255);
            }
            ++(one.unknown.empty() ? known : unknown);
        }
    }
    EXPECT_GT(known, 100);
    EXPECT_GT(unknown, known);
}

}  // namespace
}  // namespace occupipe::isa
