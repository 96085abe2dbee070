// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "bench/backend.h"
#include "bench/opencl/api.h"

namespace occupipe::bench {

// What the OpenCL runtime reports about a device, in our own terms. `id` as --device takes it.
DeviceFacts opencl_facts(const cl::Platform& platform, const cl::Device& device,
                         const std::string& id);

// Empty where there are none.
std::vector<cl::Platform> opencl_platforms();
std::vector<cl::Device> opencl_devices_of(const cl::Platform& platform);

// Division and square root as the rows say, correctly rounded, where the device can; OpenCL C 2.0
// or 3.0 where it has sub-groups.
std::string opencl_build_options(const cl::Device& device);

// "CL_OUT_OF_RESOURCES" and so on; the number if the name is unknown.
std::string opencl_error_name(cl_int code);

}  // namespace occupipe::bench
