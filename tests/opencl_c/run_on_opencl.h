// SPDX-License-Identifier: MIT
// The oracle of OpenCL C kernels: what a launch file says, on the OpenCL runtime of this machine's
// processor (PoCL), which compiles the same text with a compiler of its own.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "tests/kernels/plan_target.h"

namespace occupipe::test {

// A CPU's OpenCL device; nullopt where there is none.
std::optional<std::string> opencl_cpu();

// All buffers after the last step, in the file's order; `text`: the kernels. Throws cl::Error,
// DeviceError.
std::vector<Buffer> run_on_opencl(const LaunchPlan& plan, const std::string& text);

}  // namespace occupipe::test
