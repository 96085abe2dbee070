// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "analysis/kernels_in.h"
#include "extract/memory_trace.h"

namespace occupipe::analysis {

// Gives the kernel's instructions their `memory`: of all warps of the launch together, for each
// machine instruction. `shared_bytes`: of a group. Says in in.assumptions where lines were sampled.
void tell_memory(KernelIn& in, const extract::MemoryTrace& trace, int cores,
                 std::int64_t shared_bytes);

}  // namespace occupipe::analysis
