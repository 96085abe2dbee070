// SPDX-License-Identifier: MIT
#include "bench/opencl/proof/receipt.h"

#include <fmt/format.h>

#include "bench/opencl/facts.h"
#include "core/files/files.h"

namespace occupipe::bench {

std::string fence_name(Fence fence) {
    switch (fence) {
        case Fence::x86:
            return "inline assembly, x86 constraints";
        case Fence::amd:
            return "inline assembly, AMD constraints";
        case Fence::nvidia:
            return "inline assembly, PTX constraints";
        case Fence::none:
            break;
    }
    return "none: the compiler accepts no inline assembly";
}

KernelReceipt opencl_receipt(const cl::Program& program, const cl::Device& device,
                             const KernelPlan& plan, const std::string& text, Fence fence) {
    std::string log;
    try {
        log = program.getBuildInfo<CL_PROGRAM_BUILD_LOG>(device);
    } catch (const cl::Error&) {
        log = "not reported by the runtime";
    }
    while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
    const std::string hash = content_hash(text);
    KernelReceipt receipt;
    receipt.text = fmt::format(
        "{} chains:{} unroll:{} for {}\n"
        "  in the loop's text: {} steps of {} chains; machine code not counted (OpenCL hands out "
        "none)\n"
        "  fence: {}\n  build options: {}\n  driver: {}\n  source {}\n  compiler: {}\n",
        plan.subject(), plan.chains, plan.unroll, device.getInfo<CL_DEVICE_NAME>(), plan.unroll,
        plan.chains, fence_name(fence), opencl_build_options(device),
        device.getInfo<CL_DRIVER_VERSION>(), hash, log.empty() ? "nothing to say" : log);
    receipt.hash = "source " + hash;
    return receipt;
}

std::string renamed_kernel(std::string text, const std::string& name) {
    const std::string old = kernel_entry;
    for (std::size_t at = text.find(old); at != text.npos; at = text.find(old, at + name.size())) {
        text.replace(at, old.size(), name);
    }
    return text;
}

std::map<std::string, std::int64_t> opencl_steps(const KernelPlan& plan) {
    const int second = plan.second ? plan.unroll / (plan.beta + 1) : 0;
    std::map<std::string, std::int64_t> steps;
    steps[std::string(plan.first->id)] =
        static_cast<std::int64_t>(plan.unroll - second) * plan.chains;
    if (plan.second) {
        steps[std::string(plan.second->id)] += static_cast<std::int64_t>(second) * plan.chains;
    }
    return steps;
}

}  // namespace occupipe::bench
