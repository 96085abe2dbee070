// SPDX-License-Identifier: MIT
// A program in the form that the in-order engine runs. Each result has a place in the warp's
// scoreboard, as a register allocator would give it: instructions whose results are not needed at
// the same time share one, so that a body of thousands of instructions needs a few dozen.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/machine/core_layout.h"

namespace occupipe::sim {

struct InOrderProgram {
    static constexpr std::int32_t past = 0;     // the place of a result that was always there
    static constexpr std::int32_t nowhere = 1;  // the place of all results that nobody waits for

    // What an instruction looks up in the scoreboard: the time of the producer's instance `lag` - 1
    // before its last.
    struct Lookup {
        std::int32_t first = 0;  // the producer's place, or its ring's
        std::int32_t mask = 0;   // 0: no ring
        std::int32_t ring = -1;
        std::int32_t lag = 1;
        std::int32_t stream = 0;  // the producer
        // Dropped in the first `back` iterations of this loop.
        std::int32_t loop = -1;
        std::int64_t back = 0;
    };
    // All that most issues need of an instruction, small so that long bodies stay in caches.
    struct alignas(8) Instruction {
        std::array<std::uint8_t, 3> lookups = {past, past, past};  // places
        std::uint8_t place = nowhere;                              // of its result
        std::uint16_t op = 0;                                      // into Machine::ops
        std::uint8_t subsystem = 0;
        std::uint8_t flags = 0;  // what its issue needs beside that
    };
    static constexpr std::uint8_t special =
        1;                                   // a barrier, waits in a queue, has a ring or far place
    static constexpr std::uint8_t ends = 2;  // a loop or the program
    static constexpr std::uint8_t looks_more = 4;  // see Details::first_lookup
    static_assert(sizeof(Instruction) == 8);
    struct Details {
        std::int32_t first_lookup = 0;  // all lookups, in the order of the kernel file
        std::int32_t last_lookup = 0;
        std::int32_t place = nowhere;  // of its result
        std::int32_t ring = -1;        // number of its ring, if it has one
        std::int32_t mask = 0;
        std::int32_t loop = -1;       // the innermost around it
        std::int32_t ends_loop = -1;  // the innermost whose last instruction it is
        std::int32_t channel = -1;    // a barrier's
        bool queued = false;
        bool store = false;
        bool completes = false;  // there is a result to speak of
    };
    struct Loop {
        std::int64_t count = 1;
        std::int32_t first = 0;
        std::int32_t last = 0;
        std::int32_t parent = -1;
        std::int32_t depth = 0;    // of loops around it
        std::int64_t settled = 1;  // iterations after which no dependence is dropped
    };
    std::vector<Instruction> instructions;  // and one more, which may be read but does not run
    std::vector<Details> details;           // beside `instructions`
    std::vector<Lookup> lookups;
    std::vector<Loop> loops;
    std::vector<std::int32_t> ring_masks;
    // Per subsystem: Σλ of all that a warp issues [ticks], modulo 2^64 where no run gets so far.
    std::vector<std::uint64_t> busy;
    std::int32_t places = 2;  // in a scoreboard
};

// No dependence goes back too many instances.
bool fits_scoreboard(const ProgramLayout& program);
// So many instructions can be told apart.
inline constexpr std::size_t max_scoreboard_ops = 1 << 16;

// Of a program that fits.
InOrderProgram in_order_program(const CoreLayout& layout, const ProgramLayout& program);

}  // namespace occupipe::sim
