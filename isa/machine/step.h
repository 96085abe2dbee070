// SPDX-License-Identifier: MIT
// An instruction made ready for execution, once per kernel and launch.
#pragma once

#include <array>
#include <cstdint>

#include "isa/instruction.h"
#include "isa/machine/lanes.h"

namespace occupipe::isa {

struct Warp;
struct Step;

// Executes one step for the lanes of `active`, which is never empty. The warp's `pc` already
// stands behind the step.
using Handler = void (*)(Warp& warp, const Step& step, Mask active);

// A source: registers of the warp (general or uniform), or words that are known before the launch
// begins (immediates, constants of a bank without an index), splatted over the lanes.
struct Source {
    std::uint32_t index = 0;  // of the first Lanes, in Warp::registers or in Warp::constants
    bool constant = false;
    bool present = false;
    bool uniform = false;   // the same in every lane
    bool negated = false;   // -R, -R of packed halves
    bool absolute = false;  // |R|
    bool inverted = false;  // ~R
    std::uint8_t count = 1;
    // Of packed halves: 0 both in order (H1_H0), 2 the lower twice (H0_H0), 3 the upper (H1_H1).
    std::uint8_t halves = 0;
};

struct PredicateSource {
    std::uint8_t index = 0;  // in Warp::predicates
    bool inverted = false;
};

// An address: register (pair) * scale + uniform register (pair) + offset.
struct AddressSource {
    std::uint32_t base = 0;  // index of Lanes; the zero registers where the address has none
    std::uint32_t uniform = 0;
    bool has_base = false;
    bool has_uniform = false;
    bool wide_base = false;     // the base is a pair
    bool wide_uniform = false;  // so is the uniform register
    std::uint8_t scale = 1;
    std::int64_t offset = 0;
};

struct Step {
    Handler run = nullptr;
    std::uint8_t guard = 0;  // in Warp::predicates
    bool guard_inverted = false;
    bool uniform = false;  // of the uniform datapath: writes all lanes, whichever are active
    // A branch, a wait or a way of giving way. Only behind such a step may other lanes of the warp
    // get their turn: between them code keeps what is its own in uniform registers, which all
    // share.
    bool may_switch = false;
    std::uint8_t destination_count = 0;
    std::uint32_t destination = 0;  // index of Lanes in Warp::registers; a sink for RZ
    bool destination_is_zero = true;
    // By their places in the word: bits 81 and 84 written, 87, 77 and 68 read. What an instruction
    // does not write goes to a sink; what it does not read is true.
    std::array<std::uint8_t, 2> predicate_out{};
    std::array<bool, 2> predicate_written{};
    std::array<PredicateSource, 3> predicate_in{};
    // Registers, immediates and constants read, in the order in which the disassembler writes them.
    std::array<Source, 4> source{};
    std::uint8_t source_count = 0;
    AddressSource address{};
    AddressSource address_2{};   // of an asynchronous copy: where it reads
    std::int32_t target = -1;    // of a branch: index of a step, -1 where none
    std::int64_t immediate = 0;  // for the handler: offset of an indirect branch, mask …
    // For the handler: small numbers found by its `bind`.
    std::array<std::uint8_t, 8> option{};
    const Instruction* instruction = nullptr;
};

}  // namespace occupipe::isa
