// SPDX-License-Identifier: MIT
// A launch of a kernel with the memory as that launch finds it, as `predict` and `sweep` predict
// it.
//   const ToldKernel told = told_for(in, kernel, profile, launch, {});
//   const PreparedLaunch one = prepared_launch(in, told, profile, launch, {});
//   model.predict(one.memory.profile, one.memory.kernel, one.launch, options);
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ask/kernels_in.h"
#include "ask/memory/memory_pricing.h"
#include "core/gpu_profile.h"
#include "core/kernel.h"
#include "core/launch.h"
#include "sim/engine/simulate.h"

namespace occupipe::analysis {

struct PrepareOptions {
    MemoryPricing pricing = MemoryPricing::per_access;
    CacheSizes caches = {};
    // Other groups at once than the code's occupancy are what was asked for.
    bool occupancy_asked = false;
    // Reuse once more, in the order in which a first prediction with these options has the warps
    // issue; for machine code.
    std::optional<SimulationOptions> again = {};
    unsigned threads = 0;  // of this machine, to find the reuse with; 0: one per core
};

// A kernel with the reuse that a launch finds, before that is priced.
struct ToldKernel {
    Kernel kernel;
    std::vector<std::string> said;  // what of the launch could not be followed, a sentence each
};

// `in`: what machine code was executed; nullptr for a graph. `kernel`: with the reuse of its own
// launch. Depends on the profile's number of cores alone.
ToldKernel told_for(const KernelIn* in, const Kernel& kernel, const GpuProfile& profile,
                    const Launch& launch, const PrepareOptions& options);

struct PreparedLaunch {
    Launch launch;
    Kernel told;  // with the memory's behaviour, before that was priced
    PricedMemory memory;
    std::vector<std::string> said;
};

// `profile`: without the prices of memory. Throws InputError as price_memory() does.
PreparedLaunch prepared_launch(const KernelIn* in, ToldKernel told, const GpuProfile& profile,
                               const Launch& launch, const PrepareOptions& options);

// Says that the reuse in a graph is that of other groups at once; empty: it is not.
std::string other_concurrency(const Kernel& told, const PricedMemory& memory, const Launch& launch,
                              MemoryPricing pricing);

// Code of one architecture on a GPU of another: neither its instructions nor its occupancy are the
// GPU's. Empty where it is the same, or the GPU's is not known.
std::string other_architecture(const KernelIn& in, const GpuProfile& profile);

inline constexpr const char* no_group_warps_of_code =
    "--group-warps is for kernel graphs: the warps of a group of machine code execute what they "
    "did with the group that --block or the launch file gives them";

}  // namespace occupipe::analysis
