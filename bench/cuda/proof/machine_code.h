// SPDX-License-Identifier: MIT
// A kernel's machine code as receipts look at it: the operation's name as the table counts it, the
// registers it reads and writes by number, where it branches to, how long the assembler lets it
// wait. isa/ does the decoding.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "isa/cubin.h"
#include "isa/word.h"

namespace occupipe::bench {

// Registers by number: general ones 0…254, then predicates, then the uniform ones of both kinds.
inline constexpr int predicate_base = 260;
inline constexpr int uniform_base = 268;
inline constexpr int uniform_predicate_base = 540;
inline constexpr int register_names = 548;

struct Instruction {
    std::string name;  // "FFMA", "MUFU.COS", "IMAD.WIDE"; "op:0x1ff" where the code is unknown
    std::vector<int> reads;
    std::vector<int> writes;
    std::optional<int> guard;  // predicate register that must hold (or not hold) for it to act
    std::optional<std::int64_t> branch_target;  // byte address, for branches with a fixed target
    int stall_cycles = 0;                       // until the next instruction of the warp may issue
    // Scoreboards (0 to 5): what it raises until its result is there and until its operands are
    // read; those that it waits for before it issues, as bits.
    std::optional<int> result_scoreboard;
    std::optional<int> operand_scoreboard;
    unsigned awaited_scoreboards = 0;
    bool scoreboard = false;  // its result is awaited by a scoreboard, not by counted cycles
    bool core_clock = false;  // reads the core's clock
};

// `architecture`: 75, 80, … ; `address`: of the instruction in its section, in bytes.
Instruction decode_for_receipt(isa::Word word, std::int64_t address, int architecture);

std::vector<Instruction> decode_for_receipt(const std::vector<isa::Word>& code, int architecture);

}  // namespace occupipe::bench
