// SPDX-License-Identifier: MIT
// Does what a launch file says on an OpenCL device: the file's source is OpenCL C as well as CUDA,
// as kernels/portable.h makes it.
//   auto after = run_launches(0, 0, read_launches("kernels/small/lud.yaml"));
//   after.buffers.at("m")
#pragma once

#include "bench/launch_on_device.h"

namespace occupipe::bench {

// Dynamic shared memory is given by a kernel's last parameter, `__local char*` (ROOM), where it has
// one more than the launch has arguments.
// Throws InputError where the file asks for what OpenCL has not got, NothingToRunOn where there is
// no such device, DeviceError where it fails.
LaunchedPlan run_launches(int platform, int device, const LaunchPlan& plan,
                          const PlanLimit& limit = {});

}  // namespace occupipe::bench
