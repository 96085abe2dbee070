// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "bench/backend.h"
#include "bench/opencl/api.h"

namespace occupipe::bench {

// What the OpenCL runtime says of a device, as our own terms. `id` as --device takes it.
DeviceFacts opencl_facts(const cl::Platform& platform, const cl::Device& device,
                         const std::string& id);

// Empty where there are none.
std::vector<cl::Platform> opencl_platforms();
std::vector<cl::Device> opencl_devices_of(const cl::Platform& platform);

// "CL_OUT_OF_RESOURCES" and so on; the number where we know no name.
std::string opencl_error_name(cl_int code);

}  // namespace occupipe::bench
