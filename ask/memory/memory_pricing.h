// SPDX-License-Identifier: MIT
// The memory analysis module: what a kernel's instructions ask of the memory, and what a GPU's
// levels cost → λ and Λ of each memory instruction (docs/pipeline-model.md, "Memory").
//   PricedMemory priced = price_memory(kernel, profile, MemoryPricing::per_access, {});
//   model.predict(priced.profile, priced.kernel, launch, {});
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/gpu_profile.h"
#include "core/kernel.h"

namespace occupipe::analysis {

enum class MemoryPricing : std::uint8_t {
    none,        // as the profile says, wherever the data come from
    per_access,  // each instruction by the levels that answer it
    aggregate,   // one ratio R and one conflict degree D of the kernel, as the paper has it
};

std::string_view to_string(MemoryPricing pricing);

constexpr auto words(std::type_identity<MemoryPricing>) {
    return std::array{MemoryPricing::none, MemoryPricing::per_access, MemoryPricing::aggregate};
}

// Bytes of the caches that groups of the kernel find; absent: not known.
struct CacheSizes {
    std::optional<double> first;          // of one core, without what shared memory takes
    std::optional<double> second;         // of the device
    std::string first_from, second_from;  // "the profile's memory levels", "asked for", …
};

// What is not `asked` is taken from the profile's memory levels (the largest working set that a
// level was seen to hold) and, for the first level, from the architecture (CUDA C++ Programming
// Guide 13.0, "Shared Memory" of each compute capability): the unified memory less the smallest
// part for shared memory that holds the concurrent groups' own.
CacheSizes cache_sizes(const Kernel& kernel, const GpuProfile& profile, const CacheSizes& asked);

// Which part of the sectors that an instruction reads each level answers; sums to 1.
struct LevelShares {
    double first = 0, second = 0, dram = 0;
};
LevelShares level_shares(const MemoryUse& use, const CacheSizes& sizes);

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
};

// An instruction without any active lane becomes an issue slot. Throws InputError where `aggregate`
// is asked of a kernel that tells nothing of memory.
PricedMemory price_memory(const Kernel& kernel, const GpuProfile& profile, MemoryPricing pricing,
                          const CacheSizes& asked);

// From and to DRAM, of the mean warp [bytes]; absent where an instruction of global memory does not
// tell, or there is none.
std::optional<double> dram_bytes_per_warp(const PricedMemory& memory);

}  // namespace occupipe::analysis
