// SPDX-License-Identifier: MIT
// A warp's program with chosen loops replicated: the step between the kernel with names resolved
// and LoopProgram.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "core/resolved_kernel.h"
#include "sim/program/loop_program.h"

namespace occupipe::sim {

// `source` maps each of the result's loops to the program's loop.
struct Lowered {
    LoopProgram program;
    std::vector<std::int32_t> source;
};

// The loops in `replicated` become as many copies of their bodies as they have iterations.
Lowered lower(const ResolvedProgram& program, const std::set<std::int32_t>& replicated,
              const Machine& machine);

}  // namespace occupipe::sim
