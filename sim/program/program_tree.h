// SPDX-License-Identifier: MIT
// A warp's program with names resolved and chosen loops replicated: the step between the kernel as
// written and LoopProgram.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "sim/program/loop_program.h"

namespace occupipe::sim {

struct ProgramTree {
    struct Dependence {
        std::int32_t producer = 0;      // into instructions
        std::int64_t back = 0;          // the instance this many iterations ago
        std::int32_t common_loop = -1;  // innermost loop that holds both
    };
    struct Instruction {
        std::string id;
        std::int32_t op = 0;
        std::vector<std::int32_t> loops;  // that hold it, outermost first
        std::vector<Dependence> after;
    };
    struct Loop {
        std::int32_t parent = -1;
        std::int64_t count = 1;
        SourcePosition where;
    };
    std::vector<Instruction> instructions;  // in text order
    std::vector<Loop> loops;                // in text order
};

ProgramTree resolve(const WarpProgram& program, const Machine& machine);

// `source` maps each of the result's loops to the tree's loop.
struct Lowered {
    LoopProgram program;
    std::vector<std::int32_t> source;
};

// The loops in `replicated` become as many copies of their bodies as they have iterations.
Lowered lower(const ProgramTree& tree, const std::set<std::int32_t>& replicated,
              const Machine& machine);

}  // namespace occupipe::sim
