// SPDX-License-Identifier: MIT
#include "bench/cuda/proof/sass.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace occupipe::bench {
namespace {

// Operand slots of an operation. D: destination (bits 16-23); A, B, C: sources (bits 24-31; 32-39;
// 64-71, B and C as the operand form places them); lower case: a pair of registers.
// S: data to store (bits 32-39 in every form); T: lane to exchange with (bits 32-39, forms 1 and
// 2). P, Q: predicates written (bits 81-83, 84-86); p, q, r: predicates read (bits 87-89, 77-79,
// 68-70). U: the destination is a uniform register.
struct Operation {
    int code;  // bits 0-8
    std::string_view name;
    std::string_view slots;
};

constexpr std::array operations = {
    Operation{0x002, "MOV", "DB"},
    Operation{0x003, "P2R", "DAB"},
    Operation{0x004, "R2P", "AB"},
    Operation{0x005, "CS2R", "d"},
    Operation{0x006, "VOTE", "DPp"},
    Operation{0x007, "SEL", "DABp"},
    Operation{0x008, "FSEL", "DABp"},
    Operation{0x009, "FMNMX", "DABp"},
    Operation{0x00b, "FSETP", "ABPQp"},
    Operation{0x00c, "ISETP", "ABPQpr"},
    Operation{0x00f, "VIMNMX3", "DABCp"},
    Operation{0x010, "IADD3", "DABCPQpq"},
    Operation{0x011, "LEA", "DABCPp"},
    Operation{0x012, "LOP3", "DABCPp"},
    Operation{0x013, "IABS", "DB"},
    Operation{0x014, "VABSDIFF", "DABC"},
    Operation{0x016, "PRMT", "DABC"},
    Operation{0x017, "IMNMX", "DABp"},
    Operation{0x019, "SHF", "DABC"},
    Operation{0x01a, "SGXT", "DAB"},
    Operation{0x01b, "BMSK", "DAB"},
    Operation{0x01c, "PLOP3", "PQpqr"},
    Operation{0x020, "FMUL", "DAB"},
    Operation{0x021, "FADD", "DAB"},
    Operation{0x023, "FFMA", "DABC"},
    Operation{0x024, "IMAD", "DABCp"},
    Operation{0x025, "IMAD.WIDE", "dABcp"},
    Operation{0x026, "IDP", "DABC"},
    Operation{0x027, "IMAD.HI", "DABC"},
    Operation{0x028, "DMUL", "dab"},
    Operation{0x029, "DADD", "dac"},
    Operation{0x02a, "DSETP", "abPQp"},
    Operation{0x02b, "DFMA", "dabc"},
    Operation{0x02f, "ELECT", "P"},
    Operation{0x030, "HADD2", "DAB"},
    Operation{0x031, "HFMA2", "DABC"},
    Operation{0x032, "HMUL2", "DAB"},
    Operation{0x033, "HSETP2", "ABPQp"},
    Operation{0x034, "HSET2", "DABp"},
    Operation{0x036, "VIADD", "DAB"},
    Operation{0x037, "IMMA", "DABC"},
    Operation{0x038, "I2I", "DB"},
    Operation{0x03a, "MOVM", "DA"},
    Operation{0x03b, "LDSM", "DA"},
    Operation{0x03c, "HMMA", "DABC"},
    Operation{0x03d, "BMMA", "DABC"},
    Operation{0x03e, "F2FP", "DABC"},
    Operation{0x03f, "DMMA", "DABC"},
    Operation{0x040, "HMNMX2", "DABp"},
    Operation{0x044, "STSM", "AS"},
    Operation{0x045, "I2FP", "DB"},
    Operation{0x046, "VIADDMNMX", "DABCp"},
    Operation{0x048, "VIMNMX", "DABp"},
    Operation{0x049, "FFMA2", "dabc"},
    Operation{0x04a, "FMUL2", "dab"},
    Operation{0x04b, "FADD2", "dab"},
    Operation{0x076, "FMNMX3", "DABCp"},
    Operation{0x07a, "QMMA", "DABC"},
    Operation{0x07f, "OMMA", "DABC"},
    Operation{0x080, "UMOV", "DB"},
    Operation{0x082, "UMOV", "DB"},
    Operation{0x086, "VOTEU", "DPp"},
    Operation{0x087, "USEL", "DABp"},
    Operation{0x08c, "UISETP", "ABPQpr"},
    Operation{0x090, "UIADD3", "DABCPQpq"},
    Operation{0x091, "ULEA", "DABPp"},
    Operation{0x092, "ULOP3", "DABCPp"},
    Operation{0x099, "USHF", "DABC"},
    Operation{0x09c, "UPLOP3", "PQpqr"},
    Operation{0x0a4, "UIMAD", "DABCp"},
    Operation{0x0a5, "UIMAD.WIDE", "dABcp"},
    Operation{0x0b9, "ULDC", "D"},
    Operation{0x0bd, "UFLO", "DB"},
    Operation{0x0bf, "UPOPC", "DB"},
    Operation{0x0ca, "R2UR", "UA"},
    Operation{0x0cb, "CS2UR", "d"},
    Operation{0x0cc, "CREDUX", "UA"},
    Operation{0x100, "FLO", "DB"},
    Operation{0x101, "BREV", "DB"},
    Operation{0x102, "FCHK", "ABP"},
    Operation{0x104, "F2F", "DB"},
    Operation{0x105, "F2I", "DB"},
    Operation{0x106, "I2F", "DB"},
    Operation{0x107, "FRND", "DB"},
    Operation{0x108, "MUFU", "DB"},
    Operation{0x109, "POPC", "DB"},
    Operation{0x110, "F2F.64", "DB"},
    Operation{0x111, "F2I.64", "db"},
    Operation{0x112, "I2F.64", "db"},
    Operation{0x113, "FRND.64", "db"},
    Operation{0x118, "NOP", ""},
    Operation{0x119, "S2R", "D"},
    Operation{0x11a, "DEPBAR", ""},
    Operation{0x11d, "BAR", ""},
    Operation{0x141, "BSYNC", ""},
    Operation{0x144, "CALL", ""},
    Operation{0x145, "BSSY", ""},
    Operation{0x146, "YIELD", ""},
    Operation{0x147, "BRA", "p"},
    Operation{0x148, "WARPSYNC", ""},
    Operation{0x14d, "EXIT", "p"},
    Operation{0x150, "RET", "A"},
    Operation{0x155, "BMOV", ""},
    Operation{0x166, "TLD", "DA"},
    Operation{0x167, "TLD", "DA"},
    Operation{0x180, "LD", "Da"},
    Operation{0x181, "LDG", "Da"},
    Operation{0x182, "LDC", "DA"},
    Operation{0x183, "LDL", "DA"},
    Operation{0x184, "LDS", "DA"},
    Operation{0x185, "ST", "aS"},
    Operation{0x186, "STG", "aS"},
    Operation{0x187, "STL", "AS"},
    Operation{0x188, "STS", "AS"},
    Operation{0x189, "SHFL", "DATP"},
    Operation{0x18a, "ATOM", "DaSP"},
    Operation{0x18c, "ATOMS", "DAS"},
    Operation{0x18d, "ATOMS.CAS", "DAS"},
    Operation{0x18e, "RED", "aS"},
    Operation{0x18f, "CCTL", ""},
    Operation{0x190, "CCTLL", ""},
    Operation{0x192, "MEMBAR", ""},
    Operation{0x1a1, "MATCH", "DAP"},
    Operation{0x1a7, "SYNCS", ""},
    Operation{0x1a8, "ATOMG", "DaSP"},
    Operation{0x1a9, "ATOMG.CAS", "DaSP"},
    Operation{0x1ab, "ERRBAR", ""},
    Operation{0x1ac, "LDCU", "U"},
    Operation{0x1ae, "LDGSTS", "Aa"},
    Operation{0x1af, "LDGDEPBAR", ""},
    Operation{0x1ba, "UBLKCP", ""},
    Operation{0x1c2, "R2UR", "UA"},
    Operation{0x1c3, "S2UR", "U"},
    Operation{0x1c4, "REDUX", "UA"},
    Operation{0x1c5, "WARPGROUP", ""},
    Operation{0x1c7, "UCGABAR", ""},
    Operation{0x1f0, "HGMMA", ""},
    Operation{0x1f1, "IGMMA", ""},
    Operation{0x1f3, "QGMMA", ""},
};
static_assert(std::ranges::is_sorted(operations, {}, &Operation::code));

// Code 0x035 changed hands: half-precision multiply-add on the tensor pipe until Hopper, 64-bit
// addition from Blackwell on.
constexpr Operation half_multiply_add{0x035, "HFMA2.MMA", "DABC"};
constexpr Operation wide_addition{0x035, "IADD.64", "dab"};

constexpr std::array<std::string_view, 10> unit_functions = {
    "COS", "SIN", "EX2", "LG2", "RCP", "RSQ", "RCP64H", "RSQ64H", "SQRT", "TANH"};
constexpr std::uint64_t core_clock_register = 0x50;

// `count` bits of the 128 from bit `first` on; count < 64.
std::uint64_t bits(InstructionWord word, int first, int count) {
    std::uint64_t value = first >= 64 ? word.high >> (first - 64) : word.low >> first;
    if (first < 64 && first + count > 64) value |= word.high << (64 - first);
    return value & ((std::uint64_t{1} << count) - 1);
}

// The packed product of two registers (form 1) shares its code with the uniform minimum and
// maximum.
constexpr Operation uniform_minimum{0x04a, "UVIMNMX", "DABp"};

const Operation* find_operation(InstructionWord word, int architecture) {
    const int code = static_cast<int>(bits(word, 0, 9));
    if (code == uniform_minimum.code && bits(word, 9, 3) != 1) return &uniform_minimum;
    if (code == wide_addition.code) {
        return architecture >= 100 ? &wide_addition : &half_multiply_add;
    }
    const auto found = std::ranges::lower_bound(operations, code, {}, &Operation::code);
    return found != operations.end() && found->code == code ? &*found : nullptr;
}

// Which of slots A, B, C hold general registers, and where, depends on the operand form (bits
// 9-11): 1 all registers; 2, 3, 7 C is an immediate, a constant, a uniform register, and B moves to
// C's place; 4, 5, 6 B is one of these.
class Operands {
public:
    Operands(InstructionWord word, const Operation& operation, Instruction& into)
        : word_(word), slots_(operation.slots), into_(into) {
        const bool uniform = (operation.code >= 0x080 && operation.code < 0x100 &&
                              operation.slots.find('U') == operation.slots.npos) ||
                             operation.name == uniform_minimum.name;
        general_ = uniform ? uniform_base : 0;
        absent_ = uniform ? 63 : 255;
        predicates_ = uniform ? uniform_predicate_base : predicate_base;
    }

    void read_all() {
        const int form = static_cast<int>(bits(word_, 9, 3));
        const bool c_replaced = form == 2 || form == 3 || form == 7;
        source('A', 24);
        if (form == 1) source('B', 32);
        source('S', 32);
        if (form == 1 || form == 2) source('T', 32);
        if (form == 1) source('T', 64);
        if (c_replaced && has('B') && has('C')) source('B', 64);
        if (!c_replaced) source('C', 64);
        if (form == 6 || form == 7) uniform_source(32);
        destination();
        predicate('P', 81, into_.writes);
        predicate('Q', 84, into_.writes);
        predicate('p', 87, into_.reads);
        predicate('q', 77, into_.reads);
        predicate('r', 68, into_.reads);
    }

private:
    bool has(char slot) const {
        const char pair = static_cast<char>(slot - 'A' + 'a');
        return slots_.find(slot) != slots_.npos || slots_.find(pair) != slots_.npos;
    }
    void add(std::vector<int>& list, char slot, int base, int absent, int first_bit) const {
        const int number = static_cast<int>(bits(word_, first_bit, 8));
        if (number >= absent) return;
        list.push_back(base + number);
        const char pair = static_cast<char>(slot - 'A' + 'a');
        if (slots_.find(pair) != slots_.npos) list.push_back(base + number + 1);
    }
    void source(char slot, int first_bit) {
        if (has(slot)) add(into_.reads, slot, general_, absent_, first_bit);
    }
    void uniform_source(int first_bit) { add(into_.reads, 'X', uniform_base, 63, first_bit); }
    void destination() {
        if (slots_.find('U') != slots_.npos) add(into_.writes, 'U', uniform_base, 63, 16);
        if (has('D')) add(into_.writes, 'D', general_, absent_, 16);
    }
    void predicate(char slot, int first_bit, std::vector<int>& list) const {
        const int number = static_cast<int>(bits(word_, first_bit, 3));
        if (slots_.find(slot) != slots_.npos && number != 7) list.push_back(predicates_ + number);
    }

    InstructionWord word_;
    std::string_view slots_;
    Instruction& into_;
    int general_ = 0;
    int absent_ = 255;
    int predicates_ = predicate_base;
};

// Loads and stores of 64 and 128 bits use two and four data registers; bits 73-75 tell.
void widen_memory_operand(InstructionWord word, const Operation& operation, Instruction& into) {
    const bool load = operation.name == "LDG" || operation.name == "LDS" ||
                      operation.name == "LDL" || operation.name == "LDC";
    if (!load || into.writes.empty()) return;
    const std::uint64_t size = bits(word, 73, 3);
    const int registers = size == 5 ? 2 : size == 6 ? 4 : 1;
    const int first = into.writes.front();
    for (int i = 1; i < registers; ++i) into.writes.push_back(first + i);
}

// Conversions to and from double precision: three in bits 75-76 (result) or 84-85 (operand) means
// 64 bits.
void widen_conversion(InstructionWord word, Instruction& into) {
    if (bits(word, 75, 2) == 3 && !into.writes.empty()) {
        into.writes.push_back(into.writes.front() + 1);
    }
    if (bits(word, 84, 2) == 3 && !into.reads.empty()) {
        into.reads.push_back(into.reads.front() + 1);
    }
}

// In units of 4 bytes from the next instruction; Hopper put its lowest eight bits elsewhere.
std::int64_t branch_offset(InstructionWord word, int architecture) {
    const auto high = static_cast<std::int64_t>(bits(word, 34, 48) << 16) >> 16;
    if (architecture < 90) return high * 4;
    return (high * 256 + static_cast<std::int64_t>(bits(word, 16, 8))) * 4;
}

// The multiply-add pipe also moves (0 * 0 + C) and adds (A * 1 + C) for the integer one.
std::string multiply_add_name(InstructionWord word) {
    const std::uint64_t form = bits(word, 9, 3);
    const std::uint64_t b = form == 1 ? bits(word, 32, 8) : bits(word, 64, 8);
    const bool b_register = form == 1 || form == 2 || form == 3 || form == 7;
    if (bits(word, 24, 8) == 255 && b_register && b == 255) return "IMAD.MOV";
    return form == 4 && bits(word, 32, 32) == 1 ? "IMAD.IADD" : "IMAD";
}

std::string full_name(InstructionWord word, const Operation& operation) {
    const bool extended = bits(word, 74, 1) != 0;  // takes a carry
    if (operation.name == "IADD3" && extended) return "IADD3.X";
    if (operation.name == "IMAD") return extended ? "IMAD.X" : multiply_add_name(word);
    if (operation.name != "MUFU") return std::string(operation.name);
    const std::uint64_t function = bits(word, 74, 4);
    return function < unit_functions.size() ? fmt::format("MUFU.{}", unit_functions[function])
                                            : "MUFU";
}

}  // namespace

Instruction decode(InstructionWord word, std::int64_t address, int architecture) {
    Instruction instruction;
    const int code = static_cast<int>(bits(word, 0, 9));
    const auto guard = static_cast<int>(bits(word, 12, 3));
    if (guard != 7) instruction.guard = predicate_base + guard;
    instruction.stall_cycles = static_cast<int>(bits(word, 105, 4));
    const auto scoreboard_at = [&](int first_bit) {
        const auto number = static_cast<int>(bits(word, first_bit, 3));
        return number == 7 ? std::nullopt : std::optional(number);
    };
    instruction.result_scoreboard = scoreboard_at(110);
    instruction.operand_scoreboard = scoreboard_at(113);
    instruction.awaited_scoreboards = static_cast<unsigned>(bits(word, 116, 6));
    instruction.scoreboard = instruction.result_scoreboard.has_value();
    const Operation* operation = find_operation(word, architecture);
    if (!operation) {
        instruction.name = fmt::format("op:{:#05x}", code);
        return instruction;
    }
    instruction.name = full_name(word, *operation);
    Operands(word, *operation, instruction).read_all();
    widen_memory_operand(word, *operation, instruction);
    if (operation->name == "F2F.64") widen_conversion(word, instruction);
    if (operation->name == "BRA") {
        // Hopper's and later uniform form names its predicate in another place.
        if (architecture >= 90 && bits(word, 9, 3) == 2) {
            instruction.reads = {uniform_predicate_base + static_cast<int>(bits(word, 24, 3))};
        }
        instruction.branch_target = address + instruction_bytes + branch_offset(word, architecture);
    }
    const bool special =
        operation->name == "CS2R" || operation->name == "S2R" || operation->name == "S2UR";
    instruction.core_clock = special && bits(word, 72, 8) == core_clock_register;
    return instruction;
}

std::vector<Instruction> decode(const std::vector<InstructionWord>& code, int architecture) {
    std::vector<Instruction> instructions;
    std::int64_t address = 0;
    for (const InstructionWord word : code) {
        instructions.push_back(decode(word, address, architecture));
        address += instruction_bytes;
    }
    return instructions;
}

}  // namespace occupipe::bench
