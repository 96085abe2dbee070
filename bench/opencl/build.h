// SPDX-License-Identifier: MIT
// Compiling on a device, and facts that only a compilation shows.
#pragma once

#include <string>

#include "bench/opencl/api.h"
#include "bench/opencl/prelude.h"

namespace occupipe::bench {

// Throws DeviceError with the compiler's words.
cl::Program opencl_build(const cl::Context& context, const cl::Device& device,
                         const std::string& text);

// The first fence that the device's compiler accepts.
Fence find_fence(const cl::Context& context, const cl::Device& device);

// Work-items that the device runs together.
int preferred_multiple(const cl::Context& context, const cl::Device& device);

}  // namespace occupipe::bench
