// SPDX-License-Identifier: MIT
// CUDA kernels for other programs to run, such as cycle-level simulators.
#pragma once

#include <string>

#include "bench/offline/carrier.h"

namespace occupipe::bench {

// Per warp, in words of 32 bits: first and last reading of %clock; %smid and %warpid, or two zeros
// where placement is not asked for; then, of a checkpointed kernel, the readings on the way and a
// zero.
std::size_t carried_stamp_bytes(const KernelPlan& plan);

// Source (.cu), PTX, machine code (.cubin) and receipt (.txt) of the kernel as a function `name`.
// Unlike the kernel that this program launches itself, it has no start line, uses no global timer
// and no atomic, and reads the 32-bit %clock. `placement`: it also reads %smid and %warpid.
CarriedKernel carry_cuda(const KernelSource& source, const std::string& architecture,
                         const TableSizes& tables, const std::string& name, bool placement);

}  // namespace occupipe::bench
