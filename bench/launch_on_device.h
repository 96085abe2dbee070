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
};

// The file's first launch of a kernel, with dynamic shared memory of these sizes in place of the
// file's.
struct LaunchToTime {
    std::string kernel;
    std::vector<std::uint32_t> shared_bytes;
    int repetitions = 1;
};

struct LaunchTimes {
    std::vector<std::vector<double>> seconds;  // of each size, by the device's own timer
    std::string doubt;                         // why they may be too long or too short; empty: none
};

// `device`: "opencl:P.D", which compiles the file's source, or "cuda:N", which takes `machine_code`
// (a cubin) of its architecture. Throws InputError for any other, and where the file asks for what
// the device has not got; NothingToRunOn where there is no such device; DeviceError where it fails.
LaunchedPlan launch_on_device(const std::string& device, const LaunchPlan& plan,
                              const std::string& machine_code = {});

// Likewise. The launches before it in the file come before every time. CUDA's caches hold none of
// its data when it begins, and the GPU has other work until then, so that no time contains what an
// idle GPU waits for the host. Throws InputError, too, where the file has no launch of the kernel.
LaunchTimes time_on_device(const std::string& device, const LaunchPlan& plan,
                           const LaunchToTime& launch, const std::string& machine_code = {});

}  // namespace occupipe::bench
