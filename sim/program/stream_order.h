// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "sim/program/loop_program.h"

namespace occupipe::sim {

// For each stream the set of those later ones, in the same outermost loop, that may be iterations
// behind it when both could issue. All others follow it in program order as they do in the text.
// For at most 64 streams.
std::vector<std::uint64_t> possible_laggards(const LoopProgram& program);

}  // namespace occupipe::sim
