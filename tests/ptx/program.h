// SPDX-License-Identifier: MIT
// A kernel's PTX, read far enough to be executed (machine.h). Knows what the compiler and the
// benchmarks' own inline assembly write; anything else is an error, never ignored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace occupipe::ptx {

// Not PTX, or PTX that is not known here.
struct NotUnderstood : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Operand {
    enum class Kind { reg, immediate, special, symbol, address, list, sink };
    Kind kind = Kind::immediate;
    int reg = -1;                // reg
    std::uint64_t value = 0;     // immediate's bits; address: what is added to the base
    std::string name;            // special register, symbol or label
    bool inverted = false;       // !%p1
    std::vector<Operand> parts;  // list: its elements; address: its base, a texture's coordinates
};

struct Guard {
    int reg = -1;
    bool negated = false;
};

struct Instruction {
    std::optional<Guard> guard;
    std::string opcode;              // "ld.global.u32"
    std::vector<std::string> words;  // "ld", "global", "u32"
    std::vector<Operand> operands;
    std::string text;
    std::size_t target = 0;  // of a branch: index into Program::code
};

struct Variable {
    std::string space;  // "shared", "const", "local", "global"
    std::size_t bytes = 0;
    std::vector<std::byte> content;
};

struct Program {
    std::string entry;
    std::vector<std::string> parameters;
    std::vector<std::size_t> parameter_bytes;  // of each
    int registers = 0;
    unsigned cluster = 1;  // groups
    std::map<std::string, Variable> variables;
    std::vector<Instruction> code;
};

// Width of a type ("u32", "f16x2", "pred") [bytes]; a predicate has 1. Throws NotUnderstood.
std::size_t type_width(std::string_view type);

// `entry`: which kernel; empty: the first one. Throws NotUnderstood.
Program parse(std::string_view text, std::string_view entry = "");

}  // namespace occupipe::ptx
