// SPDX-License-Identifier: MIT
#include "bench/launch_on_device.h"

#include <fmt/format.h>

#include <cstdio>

#include "bench/cuda/driver/driver_api.h"
#include "bench/cuda/run_launches.h"
#include "core/error.h"
#if OCCUPIPE_OPENCL
#include "bench/opencl/run_launches.h"
#endif

namespace occupipe::bench {

LaunchedPlan launch_on_device(const std::string& device, const LaunchPlan& plan,
                              const PlanLimit& limit, const std::string& machine_code) {
    int platform = 0, number = 0, end = 0;
    const auto is_all = [&] { return static_cast<std::size_t>(end) == device.size(); };
    if (std::sscanf(device.c_str(), "cuda:%d%n", &number, &end) == 1 && is_all())
        return run_cuda_launches(cuda_driver_library(), number, plan, machine_code, limit);
    if (std::sscanf(device.c_str(), "opencl:%d.%d%n", &platform, &number, &end) != 2 || !is_all())
        throw InputError(
            fmt::format("device '{}': launch files run on cuda:N or opencl:PLATFORM.DEVICE "
                        "(see 'occupipe list devices')",
                        device));
#if OCCUPIPE_OPENCL
    return run_launches(platform, number, plan, limit);
#else
    static_cast<void>(plan);
    static_cast<void>(limit);
    throw NothingToRunOn("this build has no OpenCL backend");
#endif
}

}  // namespace occupipe::bench
