// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include "bench/backend.h"

namespace occupipe::bench {

// Every device of every OpenCL platform; empty where there is no platform.
std::vector<DeviceFacts> opencl_devices();

// Throws NothingToRunOn when there is no such platform or device, DeviceError when it does not
// work.
std::unique_ptr<Backend> open_opencl(int platform, int device);

}  // namespace occupipe::bench
