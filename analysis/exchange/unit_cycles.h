// SPDX-License-Identifier: MIT
// λ and Λ as whole cycles of a pipelined unit that starts one warp-instruction every `initiation`
// cycles and gives its result `latency` cycles after the start.
#pragma once

#include <optional>
#include <string>

#include "core/gpu_profile.h"

namespace occupipe::analysis {

// GPGPU-Sim keeps the cycles ahead in which a result leaves the unit in a set of 512
// (MAX_ALU_LATENCY).
constexpr int most_unit_cycles = 511;

struct UnitCycles {
    int units = 1;       // on a core
    int latency = 0;     // cycles, at least `initiation`
    int initiation = 0;  // cycles, at least 1
    std::string how;     // the conversion in words: "λ 0.5 per core x 4 units = 2, …"
    std::string fault;   // why there is none; the rest is meaningless then
};

// GPGPU-Sim's SIMD units (shader.cc, pipelined_simd_unit): the dispatch register is held for
// `initiation` cycles, then the instruction enters the pipeline at stage latency - initiation. So a
// core's λ is initiation / units, and latency >= initiation. `pipeline_cycles` is taken off Λ.
//
// Units: `wanted`; absent, one for each scheduler where the subsystem has a copy for each, else one
// where λ is at least a cycle, else one for each scheduler.
UnitCycles unit_cycles(const GpuProfile& profile, const InstructionTiming& timing,
                       std::optional<int> wanted, double pipeline_cycles);

}  // namespace occupipe::analysis
