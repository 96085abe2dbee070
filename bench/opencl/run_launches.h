// SPDX-License-Identifier: MIT
// Does what a launch file says on an OpenCL device: the file's source is OpenCL C as well as CUDA,
// as kernels/portable.h makes it.
//   auto after = run_launches(0, 0, read_launches("kernels/small/lud.yaml"));
//   after.buffers.at("m")
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
    std::vector<double> seconds;  // of each launch in order, by the device's own timer
};

// Dynamic shared memory is given by a kernel's last parameter, `__local char*` (ROOM), where it has
// one more than the launch has arguments; `shared_bytes` replaces the file's for kernel `limited`.
struct PlanLimit {
    std::string limited;  // a kernel's name; empty: none
    std::uint32_t shared_bytes = 0;
};

// Throws InputError where the file asks for what OpenCL has not got, NothingToRunOn where there is
// no such device, DeviceError where it fails.
LaunchedPlan run_launches(int platform, int device, const LaunchPlan& plan,
                          const PlanLimit& limit = {});

}  // namespace occupipe::bench
