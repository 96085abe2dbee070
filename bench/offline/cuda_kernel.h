// SPDX-License-Identifier: MIT
// CUDA kernels for other programs to run, such as cycle-level simulators.
#pragma once

#include <string>

#include "bench/offline/carrier.h"

namespace occupipe::bench {

// Per warp: first and last reading of %clock, %smid, %warpid, 32 bits each.
inline constexpr std::size_t carried_stamp_bytes = 16;

// Source (.cu), PTX, machine code (.cubin) and receipt (.txt) of the kernel as a function `name`.
// Unlike the kernel that this program launches itself, it has no start line, uses no global timer
// and no atomic, and reads the 32-bit %clock.
CarriedKernel carry_cuda(const KernelSource& source, const std::string& architecture,
                         const TableSizes& tables, const std::string& name);

}  // namespace occupipe::bench
