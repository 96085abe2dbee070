// SPDX-License-Identifier: MIT
#include "isa/machine/stack_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "isa/decode.h"

namespace occupipe::isa {
namespace {

constexpr std::int64_t end_of_stack = 55;  // SR_LMEMHIOFF

bool names(const Operand& operand, int number) {
    using Kind = Operand::Kind;
    const bool registers = operand.kind == Kind::registers || operand.kind == Kind::address ||
                           operand.kind == Kind::target || operand.kind == Kind::constant;
    if (!registers || operand.file != File::general || !operand.number) return false;
    return *operand.number <= number && number < *operand.number + operand.count;
}

bool goes_elsewhere(std::string_view opcode) {
    constexpr std::string_view all[] = {"BRA", "BRX", "BRXU", "JMP", "JMX", "CALL", "RET", "EXIT"};
    return std::ranges::find(all, opcode) != std::end(all);
}

// On the way from here on, which no jump interrupts.
bool is_written_before_it_is_read(std::span<const Instruction> code, int number) {
    for (const Instruction& one : code) {
        if (!one.unknown.empty() || goes_elsewhere(one.opcode)) return false;
        bool written = false;
        for (const Operand& operand : one.operands) {
            if (!names(operand, number)) continue;
            if (!operand.written) return false;
            written = true;
        }
        if (written && !one.guard) return true;
    }
    return false;
}

}  // namespace

bool is_stack_check(std::span<const Instruction> code, std::size_t at, int architecture) {
    if (at + 5 > code.size()) return false;
    const Instruction& read = code[at];
    if (read.opcode != "S2R" || read.guard || read.operands.size() != 2) return false;
    const auto number = read.operands[0].number;
    if (read.operands[1].value != end_of_stack || !number) return false;
    const Instruction& test = code[at + 1];
    if (test.opcode != "ISETP" || test.operands.empty() || !test.operands[0].number) return false;
    const int predicate = *test.operands[0].number;
    return to_text(test, architecture) ==
               fmt::format("ISETP.GE.U32.AND P{}, PT, R1, R{}, PT", predicate, *number) &&
           to_text(code[at + 2], architecture) ==
               fmt::format("@P{} BRA {:#x}", predicate, code[at + 4].address) &&
           code[at + 3].opcode == "BPT" && code[at + 3].has("TRAP") &&
           is_written_before_it_is_read(code.subspan(at + 4), *number);
}

}  // namespace occupipe::isa
