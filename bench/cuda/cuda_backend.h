// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/backend.h"

namespace occupipe::bench {

inline constexpr const char* default_cuda_driver = "libcuda.so.1";

// Every CUDA device; empty where there is no driver or no GPU.
std::vector<DeviceFacts> cuda_devices(const std::string& driver_library = default_cuda_driver);

// Throws NothingToRunOn when there is no such device, DeviceError when it does not work.
std::unique_ptr<Backend> open_cuda(int ordinal,
                                   const std::string& driver_library = default_cuda_driver);

}  // namespace occupipe::bench
