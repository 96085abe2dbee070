// SPDX-License-Identifier: MIT
// All devices of this machine, of every backend.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/backend.h"
#include "bench/cuda/driver/kernel_compiler.h"

namespace occupipe::bench {

// CUDA devices, then OpenCL devices; empty where there is neither.
std::vector<DeviceFacts> list_devices();

// The first GPU, else the first OpenCL device. Throws NothingToRunOn.
std::string default_device();

// "cuda:N" or "opencl:P.D". Throws InputError for any other word, NothingToRunOn when there is no
// such device.
// `compiler`: of a CUDA device's kernels; nullptr is NVRTC on this machine. Others take none.
std::unique_ptr<Backend> open_device(const std::string& id,
                                     std::shared_ptr<const KernelCompiler> compiler = nullptr);

}  // namespace occupipe::bench
