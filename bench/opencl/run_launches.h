// SPDX-License-Identifier: MIT
// A launch file on an OpenCL device: the file's source is OpenCL C as well as CUDA, as
// kernels/portable.h makes it.
#pragma once

#include <memory>

#include "bench/plan_on_device.h"

namespace occupipe::bench {

// Dynamic shared memory is given by a kernel's last parameter, `__local char*` (ROOM), where it has
// one more than the launch has arguments. `plan` has to outlive the result.
// All throw InputError where the file asks for what OpenCL has not got, NothingToRunOn where there
// is no such device, DeviceError where it fails.
std::unique_ptr<PlanOnDevice> plan_on_opencl(int platform, int device, const LaunchPlan& plan);

}  // namespace occupipe::bench
