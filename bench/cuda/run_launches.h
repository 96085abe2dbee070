// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "bench/launch_on_device.h"

namespace occupipe::bench {

// A launch file's machine code on GPU `ordinal` by CUDA's driver, timed by its events. Throws
// InputError where arguments do not fit the machine code or are of a kind that is not given to
// GPUs, NothingToRunOn, DeviceError, DeviceLost.
LaunchedPlan run_cuda_launches(const std::string& driver_library, int ordinal,
                               const LaunchPlan& plan, const std::string& machine_code,
                               const PlanLimit& limit = {});

}  // namespace occupipe::bench
