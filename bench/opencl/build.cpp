// SPDX-License-Identifier: MIT
#include "bench/opencl/build.h"

#include <fmt/format.h>

#include "bench/opencl/facts.h"
#include "core/error.h"

namespace occupipe::bench {

cl::Program opencl_build(const cl::Context& context, const cl::Device& device,
                         const std::string& text) {
    cl::Program program(context, text);
    try {
        program.build({device}, opencl_build_options(device).c_str());
    } catch (const cl::Error& error) {
        const std::string log = program.getBuildInfo<CL_PROGRAM_BUILD_LOG>(device);
        throw DeviceError(
            fmt::format("OpenCL: {}: {}\n{}", error.what(), opencl_error_name(error.err()), log));
    }
    return program;
}

Fence find_fence(const cl::Context& context, const cl::Device& device) {
    for (const Fence fence : {Fence::x86, Fence::amd, Fence::nvidia}) {
        try {
            opencl_build(context, device,
                         opencl_prelude(fence, 1, 1024, 1) +
                             "__kernel void k(__global float* x, __global int* i) { float a = "
                             "x[0]; int b = i[0]; FENCE_F32(a); FENCE_32(b); x[0] = a; i[0] = b; "
                             "}");
            return fence;
        } catch (const DeviceError&) {
            continue;  // not this compiler's assembly
        }
    }
    return Fence::none;
}

int preferred_multiple(const cl::Context& context, const cl::Device& device) {
    const cl::Kernel kernel(
        opencl_build(context, device,
                     "__kernel void k(__global int* x) { x[get_global_id(0)] = 1; }"),
        "k");
    return static_cast<int>(
        kernel.getWorkGroupInfo<CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE>(device));
}

}  // namespace occupipe::bench
