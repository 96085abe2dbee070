// SPDX-License-Identifier: MIT
#include "bench/cuda/proof/machine_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "isa/decode.h"

namespace occupipe::bench {
namespace {

constexpr std::int64_t core_clock_register = 0x50;

int first_of(isa::File file) {
    switch (file) {
        case isa::File::general:
            return 0;
        case isa::File::predicate:
            return predicate_base;
        case isa::File::uniform:
            return uniform_base;
        case isa::File::uniform_predicate:
            return uniform_predicate_base;
    }
    return 0;
}

void add(std::vector<int>& list, isa::File file, std::optional<int> number, int count) {
    if (!number) return;
    for (int i = 0; i < count; ++i) list.push_back(first_of(file) + *number + i);
}

void add_registers(const isa::Operand& operand, int zero_register, Instruction& into) {
    using Kind = isa::Operand::Kind;
    std::vector<int>& list = operand.written ? into.writes : into.reads;
    switch (operand.kind) {
        case Kind::registers:
        case Kind::predicate:
        case Kind::constant:
        case Kind::address:
            add(list, operand.file, operand.number, operand.count);
            break;
        case Kind::target:
            add(list, isa::File::general, operand.number, 2);
            break;
        default:
            break;
    }
    for (const auto& uniform : {operand.uniform, operand.descriptor}) {
        if (uniform != zero_register) add(into.reads, isa::File::uniform, uniform, 2);
    }
}

bool any_operand_is_64_bits_wide(std::string_view opcode, int code) {
    return (opcode == "F2F" || opcode == "F2I" || opcode == "I2F" || opcode == "FRND") &&
           code >= 0x110;
}

// The name under which the table of instructions counts it: the opcode, with those of its suffixes
// that make it another instruction.
std::string counted_name(const isa::Instruction& one) {
    std::string opcode(one.opcode);
    const auto code = static_cast<int>(one.word.bits(0, 9));
    if (opcode.empty()) return fmt::format("op:{:#05x}", code);
    if (opcode == "REDG") return "RED";  // the same code
    if (opcode == "MUFU") {
        return one.modifiers.empty() ? opcode : fmt::format("MUFU.{}", one.modifiers[0]);
    }
    if (any_operand_is_64_bits_wide(opcode, code)) return opcode + ".64";
    if (code == 0x024) {
        // A product with zero is a move, whatever the form.
        const auto zero = [](const isa::Operand& operand) {
            return operand.kind == isa::Operand::Kind::registers &&
                   operand.file == isa::File::general && !operand.number;
        };
        const bool move = one.operands.size() > 2 && zero(one.operands[1]) && zero(one.operands[2]);
        if (one.has("X")) return "IMAD.X";
        if (move || one.has("MOV")) return "IMAD.MOV";
        return one.has("IADD") ? "IMAD.IADD" : "IMAD";
    }
    constexpr std::array kinds = {std::string_view("WIDE"), std::string_view("HI")};
    for (const std::string_view kind : kinds) {
        if (opcode.ends_with("IMAD") && one.has(kind)) return fmt::format("{}.{}", opcode, kind);
    }
    if (opcode == "IADD3" && one.has("X")) return "IADD3.X";
    if (opcode == "HFMA2" && one.has("MMA")) return "HFMA2.MMA";
    if (opcode == "IADD" && one.has("64")) return "IADD.64";
    if (opcode.starts_with("ATOM") && one.has("CAS")) return opcode + ".CAS";
    return opcode;
}

}  // namespace

Instruction decode_for_receipt(isa::Word word, std::int64_t address, int architecture) {
    const isa::Instruction one = isa::decode(word, address, architecture);
    Instruction out;
    out.name = counted_name(one);
    if (one.guard && one.guard->number) out.guard = first_of(one.guard->file) + *one.guard->number;
    out.stall_cycles = one.control.stall;
    out.result_scoreboard = one.control.result_scoreboard;
    out.operand_scoreboard = one.control.operand_scoreboard;
    out.awaited_scoreboards = one.control.awaited_scoreboards;
    out.scoreboard = out.result_scoreboard.has_value();
    const int zero = isa::constant_register(isa::File::uniform, architecture);
    for (const isa::Operand& operand : one.operands) {
        add_registers(operand, zero, out);
        using Kind = isa::Operand::Kind;
        if (operand.kind == Kind::special) out.core_clock = operand.value == core_clock_register;
        if (operand.kind == Kind::target && one.opcode == "BRA") out.branch_target = operand.value;
    }
    return out;
}

std::vector<Instruction> decode_for_receipt(const std::vector<isa::Word>& code, int architecture) {
    std::vector<Instruction> instructions;
    std::int64_t address = 0;
    for (const isa::Word word : code) {
        instructions.push_back(decode_for_receipt(word, address, architecture));
        address += isa::instruction_bytes;
    }
    return instructions;
}

}  // namespace occupipe::bench
