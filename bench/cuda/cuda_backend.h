// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/backend.h"
#include "bench/cuda/driver/driver_api.h"
#include "bench/cuda/driver/kernel_compiler.h"

namespace occupipe::bench {

// Every CUDA device; empty where there is no driver or no GPU.
std::vector<DeviceFacts> cuda_devices(const std::string& driver_library = cuda_driver_library());

// Throws NothingToRunOn when there is no such device, DeviceError when it does not work.
// `compiler`: nullptr is NVRTC on this machine.
std::unique_ptr<Backend> open_cuda(int ordinal,
                                   const std::string& driver_library = cuda_driver_library(),
                                   std::shared_ptr<const KernelCompiler> compiler = nullptr);

}  // namespace occupipe::bench
