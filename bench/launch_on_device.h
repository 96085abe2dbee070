// SPDX-License-Identifier: MIT
// A launch file on a device of this machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/launch_plan.h"

namespace occupipe::bench {

struct LaunchedPlan {
    std::map<std::string, std::vector<std::byte>> buffers;  // after the last step, by name
    // Of each launch in order, by the device's own timer.
    struct Time {
        std::string kernel;
        double seconds = 0;
    };
    std::vector<Time> times;
};

// Dynamic shared memory of a kernel in place of the file's.
struct PlanLimit {
    std::string limited;  // the kernel's name; empty: none
    std::uint32_t shared_bytes = 0;
};

// `device`: "opencl:P.D", which compiles the file's source, or "cuda:N", which takes `machine_code`
// (a cubin) of its architecture. Throws InputError for any other, and where the file asks for what
// the device has not got; NothingToRunOn where there is no such device; DeviceError where it fails.
LaunchedPlan launch_on_device(const std::string& device, const LaunchPlan& plan,
                              const PlanLimit& limit = {}, const std::string& machine_code = {});

}  // namespace occupipe::bench
