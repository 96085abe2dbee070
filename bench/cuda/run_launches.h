// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "bench/plan_on_device.h"

namespace occupipe::bench {

// A launch file's machine code on GPU `ordinal` by CUDA's driver, timed by its events. `plan` has
// to outlive the result. All throw InputError where arguments do not fit the machine code or are of
// a kind that is not given to GPUs, NothingToRunOn, DeviceError, DeviceLost.
std::unique_ptr<PlanOnDevice> plan_on_cuda(const std::string& driver_library, int ordinal,
                                           const LaunchPlan& plan, const std::string& machine_code);

}  // namespace occupipe::bench
