// SPDX-License-Identifier: MIT
#pragma once

#include "bench/backend.h"
#include "bench/cuda/driver/driver_api.h"
#include "bench/cuda/placement.h"

namespace occupipe::bench {

DeviceFacts cuda_facts(const Driver& driver, cu::Device device, int ordinal);

CoreLimits core_limits(const Driver& driver, cu::Device device);

// Working sets of walks. beyond_caches: 2 GiB, so that the warps of a launch need not come back to
// a line (fresh_lines.h), but at most a quarter of the memory.
TableSizes cuda_tables(std::int64_t l2_bytes, std::int64_t memory_bytes);

// For kernels that run elsewhere, on simulators that may hold all memory in the host's: four times
// the last cache, and 128 MiB at least.
TableSizes carried_tables(std::int64_t l2_bytes);

}  // namespace occupipe::bench
