// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include "bench/backend.h"

namespace occupipe::bench {

// Every CUDA device; empty where there is no driver or no GPU.
std::vector<DeviceFacts> cuda_devices();

// Throws NothingToRunOn when there is no such device, DeviceError when it does not work.
std::unique_ptr<Backend> open_cuda(int ordinal);

}  // namespace occupipe::bench
