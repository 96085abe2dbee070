// SPDX-License-Identifier: MIT
// What is found out about a kernel before it runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "isa/decode.h"
#include "isa/machine/machine.h"
#include "isa/machine/stack_check.h"
#include "isa/machine/waiting.h"
#include "tests/isa/make_cubin.h"

namespace occupipe::isa {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Word read_end_of_stack = {0x0000000000007919, 0x00321e0000003700},
               compare_stack_pointer = {0x000000000100720c, 0x003fde0003f06070},
               jump_over_trap = {0x0000000000040947, 0x003fde0003800000},
               trap = {0x000000040000795c, 0x003fde0000300000},
               write_it_anew = {0x000000ff01007210, 0x003fde0007ffe0ff},
               leave = {0x000000000000794d, 0x003fde0003800000};

std::vector<std::string> left_out(const std::vector<Word>& code, int registers = 10) {
    test::MadeCubin made;
    made.code = code;
    made.registers = registers;
    const Cubin cubin = read_cubin(made.bytes());
    GlobalMemory memory;
    LoadedModule module(cubin, memory);
    return not_executed(module, cubin.kernels.at(0));
}

// As ptxas -O0 writes it for sm_90.
TEST(Preparation, KnowsTheCheckOfTheStacksEnd) {
    const std::vector<Word> check = {
        read_end_of_stack, compare_stack_pointer, jump_over_trap, trap, write_it_anew, leave};
    EXPECT_THAT(left_out(check), IsEmpty());
    const auto without = [&](std::size_t i, Word other) {
        std::vector<Word> code = check;
        code[i] = other;
        return left_out(code);
    };
    const auto refused = ElementsAre(HasSubstr("special register 55"));
    // Nobody reads the register behind the check, whether it is written anew or not.
    EXPECT_THAT(without(4, {0x000000ff01027210, 0x003fde0007ffe0ff}), IsEmpty());
    EXPECT_THAT(without(4, leave), IsEmpty());
    // A jump goes back to the comparison, which reads it.
    EXPECT_THAT(without(4, {0xfffffffc00f07947, 0x000fc0000383ffff}), refused);
    // The instruction that writes it reads it, too.
    EXPECT_THAT(without(4, {0x000000ff00007210, 0x003fde0007ffe0ff}), refused);
    // Other registers are compared, the jump goes elsewhere, nothing is trapped.
    EXPECT_THAT(without(1, {0x000000000200720c, 0x003fde0003f06070}), refused);
    EXPECT_THAT(without(2, {0x0000000000080947, 0x003fde0003800000}), refused);
    EXPECT_THAT(without(3, write_it_anew), refused);
}

// Four registers from the last but one on: there are no more than 256 in a file.
TEST(Preparation, LooksForWaitsInCodeThatNamesTooManyRegisters) {
    Instruction load, jump;
    load.opcode = "LDG";
    load.operands = {{.kind = Operand::Kind::registers,
                      .file = File::uniform,
                      .written = true,
                      .number = 254,
                      .count = 4}};
    jump.opcode = "BRA";
    jump.address = 16;
    jump.operands = {{.kind = Operand::Kind::target, .value = 0}};
    EXPECT_FALSE(may_wait_for_groups({load, jump}));
}

// The sanitizers of the fuzzer saw a copy from nowhere to nowhere.
TEST(Preparation, TakesConstantBanksWithoutBytes) {
    test::MadeCubin made;
    made.code = {leave};
    Cubin cubin = read_cubin(made.bytes());
    cubin.constants[".nv.constant2." + cubin.kernels.at(0).name] = "";
    GlobalMemory memory;
    LoadedModule module(cubin, memory);
    EXPECT_TRUE(module.bank(2, cubin.kernels[0].name).empty());
    const std::vector<std::byte> parameters(
        static_cast<std::size_t>(cubin.kernels[0].bank_0_bytes.value_or(0)));
    EXPECT_EQ(execute(module, cubin.kernels[0], {}, parameters).warp_instructions, 1u);
}

TEST(Preparation, RefusesRegistersThatTheKernelHasNot) {
    const Word twelve = {0x000000ff010c7210, 0x003fde0007ffe0ff};
    EXPECT_THAT(left_out({twelve, leave}, 13), IsEmpty());
    EXPECT_THAT(left_out({twelve, leave}, 12),
                ElementsAre(HasSubstr("R12 is beyond the 12 registers that the kernel declares")));
    // Of a pair the second one: LDG.E.64 R8.
    const Word pair = {0x0000080a06087981, 0x000ea4000c1f5b00};
    EXPECT_THAT(left_out({pair, leave}, 10), IsEmpty());
    EXPECT_THAT(left_out({pair, leave}, 9), ElementsAre(HasSubstr("R9 is beyond the 9 registers")));
}

}  // namespace
}  // namespace occupipe::isa
