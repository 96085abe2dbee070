// SPDX-License-Identifier: MIT
// One machine instruction of Volta's successors (sm_75 to sm_120), taken apart.
//   @!P0 IMAD.WIDE.U32 R4, R3.reuse, 0x4, R4   ; stall 4, waits for scoreboard 1
// opcode "IMAD", modifiers {"WIDE", "U32"}, four operands, a guard and a control field.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isa/word.h"

namespace occupipe::isa {

enum class File : std::uint8_t { general, predicate, uniform, uniform_predicate };

// Registers that read as zero (RZ, URZ) and predicates that read as true (PT, UPT), by file.
int constant_register(File file, int architecture);

struct Operand {
    enum class Kind : std::uint8_t {
        registers,   // `count` from `number` on; no number: RZ or URZ
        predicate,   // no number: PT or UPT
        immediate,   // `value`, as many bits as `bits`
        real,        // `value` holds the pattern of a binary32 or (`bits` 16) binary16, bfloat16
        half_pair,   // `value` holds two binary16 or two bfloat16
        constant,    // bank `bank`, byte offset `value`, plus register `number` where it has one
        address,     // register `number` * scale + uniform register + `value`
        special,     // special register `value`
        barrier,     // of convergence: B0 to B15
        scoreboard,  // SB0 to SB5
        target,      // code at byte address `value`, plus register `number` where it has one
        all_predicates,
    };
    Kind kind = Kind::registers;
    File file = File::general;
    bool written = false;
    bool negated = false;
    bool absolute = false;
    bool inverted = false;  // !P0, ~R4
    bool reuse = false;     // kept in the operand cache for the next instruction
    bool is_signed = false;
    bool wide = false;          // an immediate is the upper half of 64 bits; an address of 64
    bool half_spacing = false;  // how constants of packed halves are written: c[0x0] [0x170]
    std::optional<int> number;
    int count = 1;
    std::int64_t value = 0;
    int bits = 0;
    int bank = 0;
    std::optional<int> uniform;     // added to an address
    std::optional<int> descriptor;  // uniform registers that describe the memory
    int scale = 1;
    std::string_view part;  // ".H0_H0", ".B1", ".ROW"
    int place = 0;          // lowest bit of a predicate's number in the word
};

struct Guard {
    File file = File::predicate;
    std::optional<int> number;  // none: PT or UPT
    bool inverted = false;
};

// What the assembler tells the scheduler.
struct Control {
    int stall = 0;       // cycles until the warp's next instruction may issue
    bool yield = false;  // bit 109 clear: the scheduler rather takes another warp
    // Scoreboards (0 to 5): raised until the result is there, until the operands are read, and
    // those to wait for before issue, as bits.
    std::optional<int> result_scoreboard;
    std::optional<int> operand_scoreboard;
    unsigned awaited_scoreboards = 0;
};

struct Instruction {
    Word word;
    std::int64_t address = 0;  // in its section, bytes
    std::string_view opcode;   // "IMAD"; empty where even that is not known
    std::vector<std::string_view> modifiers;
    std::vector<Operand> operands;
    std::optional<Guard> guard;  // none: always
    Control control;
    // Why the instruction is not understood in full; empty where it is. With an opcode, the
    // registers are right as far as they are listed.
    std::string unknown;

    bool has(std::string_view modifier) const;
};

}  // namespace occupipe::isa
