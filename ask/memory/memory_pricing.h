// SPDX-License-Identifier: MIT
// The memory analysis module: what a kernel's instructions ask of the memory, and what a GPU's
// levels cost → λ and Λ of each memory instruction (docs/background/memory.md).
//   PricedMemory priced = price_memory(kernel, profile, MemoryPricing::per_access, {});
//   model.predict(priced.profile, priced.kernel, launch, {});
#pragma once

#include "ask/memory_view.h"
#include "ask/question.h"
#include "core/gpu_profile.h"
#include "core/kernel.h"

namespace occupipe::analysis {

// What is not `asked` is taken from the profile's memory levels (the largest working set that a
// level was seen to hold) and, for the first level, from the architecture (CUDA C++ Programming
// Guide 13.0, "Shared Memory" of each compute capability): the unified memory less the smallest
// part for shared memory that holds the concurrent groups' own.
CacheSizes cache_sizes(const Kernel& kernel, const GpuProfile& profile, const CacheSizes& asked);

// An instruction without any active lane becomes an issue slot. Throws InputError where `aggregate`
// is asked of a kernel that tells nothing of memory.
PricedMemory price_memory(const Kernel& kernel, const GpuProfile& profile, MemoryPricing pricing,
                          const CacheSizes& asked);

}  // namespace occupipe::analysis
