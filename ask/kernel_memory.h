// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ask/kernels_in.h"
#include "ask/memory_view.h"
#include "core/gpu_profile.h"
#include "sim/engine/simulate.h"

namespace occupipe::analysis {

// Gives the kernel's instructions their `memory`, from in.memory and the kernel's own `memory`: of
// all warps of the launch together, for each machine instruction. Round robin.
void tell_memory(KernelIn& in);

// Ticks at which the simulator issues each instruction of the groups of a core.
struct IssueTimes {
    // By group of the core, warp of the group, and what the warp executed before.
    std::vector<std::vector<std::vector<std::int64_t>>> ticks;
    std::string why_not;  // where there are none
};

// `kernel` as it is predicted: with the ops of `profile`. There are no times where warps may issue
// out of order, where they execute different numbers of instructions (a simulated warp is then no
// particular warp of the launch), or where a core executes more than 20 million.
IssueTimes issue_times(const GpuProfile& profile, const Kernel& kernel,
                       const SimulationOptions& options);

// The second round: reuse in the order of these times, of the kernel's own launch.
void tell_memory(KernelIn& in, const IssueTimes& times);

// `kernel`, which is in.kernel() but for names of ops, with the reuse that another launch of the
// code finds: as many groups at once, on so many cores, and the first of the groups where it has
// fewer. Means of requests stay those of all groups. Without times: round robin. `said`: what of
// the launch could not be followed, a sentence each. `threads`: 0: one per core.
Kernel with_memory(const KernelIn& in, Kernel kernel, const Launch& launch, int cores,
                   std::vector<std::string>& said, const IssueTimes* times = nullptr,
                   unsigned threads = 1);

// The same with caches of these sizes whose lines a hash assigns to sets of so many ways: what they
// find, any capacity does. A size that is not known finds nothing.
Kernel with_hashed_caches(const KernelIn& in, Kernel kernel, const Launch& launch, int cores,
                          const CacheSizes& sizes, int ways, std::uint64_t seed);

}  // namespace occupipe::analysis
