// SPDX-License-Identifier: MIT
#include "bench/launch_on_device.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "bench/cuda/driver/driver_api.h"
#include "bench/cuda/run_launches.h"
#include "core/error.h"
#if OCCUPIPE_OPENCL
#include "bench/opencl/run_launches.h"
#endif

namespace occupipe::bench {

namespace {

std::unique_ptr<PlanOnDevice> plan_on(const std::string& device, const LaunchPlan& plan,
                                      const std::string& machine_code) {
    int platform = 0, number = 0, end = 0;
    const auto is_all = [&] { return static_cast<std::size_t>(end) == device.size(); };
    if (std::sscanf(device.c_str(), "cuda:%d%n", &number, &end) == 1 && is_all())
        return plan_on_cuda(cuda_driver_library(), number, plan, machine_code);
    if (std::sscanf(device.c_str(), "opencl:%d.%d%n", &platform, &number, &end) != 2 || !is_all())
        throw InputError(
            fmt::format("device '{}': launch files run on cuda:N or opencl:PLATFORM.DEVICE "
                        "(see 'occupipe list devices')",
                        device));
#if OCCUPIPE_OPENCL
    return plan_on_opencl(platform, number, plan);
#else
    throw NothingToRunOn("this build has no OpenCL backend");
#endif
}

}  // namespace

LaunchedPlan launch_on_device(const std::string& device, const LaunchPlan& plan,
                              const std::string& machine_code) {
    return plan_on(device, plan, machine_code)->run();
}

LaunchTimes time_on_device(const std::string& device, const LaunchPlan& plan,
                           const LaunchToTime& launch, const std::string& machine_code) {
    const std::unique_ptr<PlanOnDevice> here = plan_on(device, plan, machine_code);
    LaunchTimes times;
    for (const std::uint32_t bytes : launch.shared_bytes) {
        std::vector<double>& seconds = times.seconds.emplace_back();
        for (int i = 0; i < launch.repetitions; ++i) {
            const auto one = here->run_until(launch.kernel, bytes);
            if (!one)
                throw InputError(plan.file, {}, "steps",
                                 fmt::format("nothing launches '{}'", launch.kernel));
            seconds.push_back(*one);
        }
    }
    times.doubt = here->doubt();
    return times;
}

}  // namespace occupipe::bench
