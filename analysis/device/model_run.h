// SPDX-License-Identifier: MIT
// A simulated run as a model device measures it: its cycles, when its warps stopped, and how far
// they all came while all of them ran.
#pragma once

#include <cstdint>

#include "bench/model/model_backend.h"
#include "core/gpu_profile.h"
#include "core/kernel.h"
#include "core/launch.h"
#include "sim/engine/simulate.h"

namespace occupipe::analysis {

// `launch` fills each core once. `instructions` of the whole core decide whether the warps are
// watched, which takes its time: up to 50,000, and up to a million where a policy is named (here or
// in the profile), since only then something may show.
bench::ModelRun model_run(const GpuProfile& profile, const Kernel& kernel, const Launch& launch,
                          const SimulationOptions& options, std::int64_t instructions);

}  // namespace occupipe::analysis
