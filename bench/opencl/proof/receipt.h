// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "bench/backend.h"
#include "bench/opencl/api.h"
#include "bench/opencl/prelude.h"

namespace occupipe::bench {

// OpenCL exposes no machine code to count in: the receipt records what was compiled, how, and the
// compiler's messages.
KernelReceipt opencl_receipt(const cl::Program& program, const cl::Device& device,
                             const KernelPlan& plan, const std::string& text, Fence fence);

// Kernel text with the kernel in it named `name`.
std::string renamed_kernel(std::string text, const std::string& name);

// The loop's steps per work-item and iteration, by instruction.
std::map<std::string, std::int64_t> opencl_steps(const KernelPlan& plan);

std::string fence_name(Fence fence);

}  // namespace occupipe::bench
