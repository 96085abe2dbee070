// SPDX-License-Identifier: MIT
// The table of encodings: one row per opcode and form.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "isa/instruction.h"

namespace occupipe::isa {

// A row as it is written down.
//
// `forms`: operand forms (bits 9-11) that the row stands for. They tell what takes the place of a
// register: 1 nothing; 2, 3, 7 the last source is an immediate, a constant, a uniform register;
// 4, 5, 6 the middle one is.
//
// `modifiers`, in the order in which they are written:
//   .FTZ@80            written where bit 80 is set; !U32@73 where bit 73 is clear; .LUT always
//   {AND|OR|XOR}@74+2  one of a list by the value of two bits; nothing between bars: not written;
//                      "-": no such value is known; {…}@75,85,86: single bits, lowest first
//   ?80=1, ?75+2=0     the row holds only where these bits have this value
//   ...                what else the instruction takes is not read
//   #72+4=15           other values of these bits are not understood
//
// `operands`, in the order in which they are written: a kind, a place, and marks.
//   R16 U16            general, uniform register at bit 16; at 16 it is written, elsewhere read
//   b c, ub uc         middle and last source, as the form has it
//   P81 p87 UP81 up87  predicate written, predicate read (with its inversion three bits further)
//   x75+5 s32+24       unsigned, signed number
//   X                  number of 64 bits: 40 from bit 24 on, 24 from bit 64 on
//   K UK               constant with an index register; KN one without
//   G M Y              address in global memory; in shared or local memory; where an asynchronous
//                      copy puts what it reads
//   S                  special register
//   T TS TR            target of a branch; the same with 32 bits; register and offset of a jump
//   TL                 address in the code, its distance with 64 bits as of X
//   TX TU              register, uniform register and what is added to it, for the next address
//   V W                barrier of convergence at bit 16; at bit 24
//   B                  scoreboard at bit 44
//   Q32+6              several scoreboards, one bit each
//   PR LUT             all predicates; the table of a logical operation on predicates
// Marks: -|~ negation, absolute value, inversion at the place's own bit, or at the bit that
// follows (-72); ^ negation, which is inversion where bit 74 is set; *2 so many registers; *w as
// many as the access is wide (bits 73-75), *m as the matrix instruction's shape asks; h halves by
// their selector; g halves without one; v two binary32 by their selector at the bit that follows;
// ? not written where it is RZ or PT; [74] [!74] only where the bit is set, clear; :x :s :f :d :h
// how an immediate is meant; .ROW written behind; r the mark of reuse is that of the last source;
// z not written where it is 0; i the byte or half of an integer that a conversion reads; p the half
// that it reads (bit 60, where the last format is one of 16 bits, or the bit that follows). More
// counts: *d *e by the sizes of a conversion's result and operand; *t *f by the type of an atomic
// operation; *u by bit 73.
struct Row {
    int code;  // bits 0-8
    std::string_view forms;
    int first;  // architectures
    int last;
    std::string_view name;
    std::string_view modifiers;
    std::string_view operands;
};

std::span<const Row> rows();

struct BitTest {
    int bit;
    int width;
    std::uint64_t value;
};

struct ModifierField {
    std::vector<int> bits;  // lowest first
    std::vector<std::string_view> names;
};

struct OperandField {
    std::string_view kind;
    int bit = 0;
    int width = 0;
    bool negation = false, absolute = false, inversion = false, carry_negation = false;
    std::optional<int> negation_bit, absolute_bit, inversion_bit;
    int count = 1;
    char counted_by = 0;  // 'w', 'm'
    bool halves = false, half_places = false;
    std::optional<int> pair_selector_bit;
    bool integer_part = false, half_part = false;
    std::optional<int> half_part_bit;
    bool hidden_when_constant = false, hidden_when_zero = false;
    bool reuse_of_last = false;
    std::optional<BitTest> only;
    char type = 'x';
    std::string_view part;
};

// A row ready for use.
struct Encoding {
    const Row* row = nullptr;
    std::vector<BitTest> conditions;
    std::vector<BitTest> fixed;
    std::vector<ModifierField> modifiers;
    std::vector<OperandField> operands;
    bool has_last_source = false;
    bool partial = false;
};

// The encodings of one opcode (bits 0-8), in the table's order.
const std::vector<Encoding>& encodings(int code);

}  // namespace occupipe::isa
