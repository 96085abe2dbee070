// SPDX-License-Identifier: MIT
#include "isa/machine/stack_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

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

// The first four registers hold neither what functions are given nor what they return, nor what
// they must not change (the parameters and results of compiled functions begin with R4).
constexpr int first_kept = 4;

// Whether no way from `at` on reads the register before it writes it.
bool is_dead(std::span<const Instruction> code, std::size_t at, int number) {
    std::vector<bool> seen(code.size());
    std::vector<std::size_t> open = {at};
    while (!open.empty()) {
        const std::size_t here = open.back();
        open.pop_back();
        if (here >= code.size()) return false;
        if (seen[here]) continue;
        seen[here] = true;
        const Instruction& one = code[here];
        if (!one.unknown.empty()) return false;
        bool written = false;
        for (const Operand& operand : one.operands) {
            if (!names(operand, number)) continue;
            if (!operand.written) return false;
            written = true;
        }
        if (written && !one.guard) continue;
        if (one.opcode == "EXIT" && !one.guard) continue;
        const bool leaves = one.opcode == "CALL" || one.opcode == "RET";
        if (leaves && number >= first_kept) return false;
        if (leaves && !one.guard && one.opcode == "RET") continue;
        if (one.opcode == "BRA") {
            const std::int64_t target = one.operands.back().value;
            if (target < 0 || target % instruction_bytes != 0) return false;
            open.push_back(static_cast<std::size_t>(target / instruction_bytes));
            if (!one.guard && one.operands.size() == 1 && one.modifiers.empty()) continue;
        } else if (one.opcode == "BRX" || one.opcode == "BRXU" || one.opcode == "JMP" ||
                   one.opcode == "JMX") {
            return false;
        }
        open.push_back(here + 1);
    }
    return true;
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
           is_dead(code, at + 4, *number);
}

}  // namespace occupipe::isa
