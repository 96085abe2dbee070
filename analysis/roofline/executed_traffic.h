// SPDX-License-Identifier: MIT
// DRAM traffic of an executed launch behind the caches of a device: what the kernel parameters of
// executed code have instead of every touched sector once.
//   set_traffic(kernel, in.kernel(), profile, {{"l2", {4194304, "asked for"}}})
#pragma once

#include <string>
#include <vector>

#include "ask/memory_view.h"
#include "core/gpu_profile.h"
#include "core/kernel.h"
#include "core/kernel_parameters.h"

namespace occupipe::analysis {

// `told`: the kernel with its launch and what its instructions ask of the memory (kernel_memory.h).
// Sectors read are those of loads and atomic operations that neither cache holds, written ones
// those of stores that are written back. Returns what was assumed of the caches, a sentence each.
// Throws InputError where the kernel does not tell, or the size of the second-level cache is not
// known.
std::vector<std::string> set_traffic(KernelParameters& parameters, const Kernel& told,
                                     const GpuProfile& profile, const CacheSizes& asked);

}  // namespace occupipe::analysis
