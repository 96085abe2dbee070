// SPDX-License-Identifier: MIT
// What a kernel's memory instructions ask for, what the caches of a GPU find of it, and what that
// costs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ask/memory_levels.h"
#include "core/gpu_profile.h"
#include "core/kernel.h"

namespace occupipe::analysis {

// Which share of an op's executions takes which Λ, in ascending order; shares sum to 1.
using LatencyParts = std::vector<std::pair<double, Estimate>>;

// One memory instruction of the kernel's text.
struct MemoryRow {
    std::string id, op, at;
    double executions = 0;  // by the mean warp
    MemoryUse use;
    std::optional<LevelShares> read;   // absent: reads nothing but shared memory
    std::optional<double> dram_bytes;  // per execution, read and written back; absent: not told
    std::optional<Estimate> cpi;       // λ per core, as priced
    std::optional<Estimate> latency;   // Λ, as priced
};

struct PricedMemory {
    Kernel kernel;       // memory instructions have ops of their own
    GpuProfile profile;  // with the timings of these
    CacheSizes sizes;
    std::vector<MemoryRow> rows;  // in the order of the text
    // Of the kernel, where it tells: bytes from and to DRAM over bytes asked of global memory;
    // passes through shared memory beyond the least, as a share of these.
    std::optional<double> dram_ratio;       // R
    std::optional<double> conflict_degree;  // D
    // What is assumed or missing, and how to measure it; a sentence each.
    std::vector<std::string> said;
    // Of ops whose executions find their data in different levels; absent: Λ is one number.
    std::map<std::string, LatencyParts> latencies;
};

// From and to DRAM, of the mean warp [bytes]; absent where an instruction of global memory does not
// tell, or there is none.
std::optional<double> dram_bytes_per_warp(const PricedMemory& memory);

// What the caches find, with the profile's own λ and Λ: for reading, not for predicting.
PricedMemory memory_view(const Kernel& kernel, const GpuProfile& profile, const CacheSizes& asked);

}  // namespace occupipe::analysis
