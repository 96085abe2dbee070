// SPDX-License-Identifier: MIT
// Seeded random machines, kernels and launches, and the shrinking of one that shows a fault.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/gpu_profile.h"
#include "core/kernel.h"
#include "core/launch.h"
#include "sim/engine/simulate.h"

namespace occupipe::test {

struct Case {
    GpuProfile profile;
    Kernel kernel;
    Launch launch;
    SimulationOptions options;
};

struct CaseShape {
    int max_instructions = 7;  // of the text, per program
    int max_count = 4;         // trip count of a repeat
    int max_executed = 60;     // instructions of one warp, loops replicated
    int max_groups = 6;
    bool divergence = true;
};

Case random_case(std::uint64_t seed, const CaseShape& shape = {});

// `check` on the cases of the seeds 1 … last that can be simulated: dataflow may have to replicate
// too much. A failure names the seed.
void for_each_simulable(std::uint64_t last, const CaseShape& shape,
                        const std::function<void(const Case&)>& check);

// The smallest case found, by removing one thing at a time, for which `fails` still holds.
Case shrink(Case failing, const std::function<bool(const Case&)>& fails);

// Everything needed to run it again: profile and kernel as files, launch, policy and order.
std::string describe(const Case& shown);

}  // namespace occupipe::test
