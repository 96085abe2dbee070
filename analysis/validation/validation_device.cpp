// SPDX-License-Identifier: MIT
#include "analysis/validation/validation_device.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/validation/validation_file.h"
#include "bench/devices.h"
#include "bench/launch_on_device.h"
#include "core/error.h"
#include "core/files/launch_files.h"
#include "extract/buffer_check.h"
#include "extract/run_plan.h"

namespace occupipe::analysis {

RealDevice open_real_device(const std::string& id, const GpuProfile& profile) {
    const bool cuda = id.starts_with("cuda:");
    if (!cuda && !id.starts_with("opencl:"))
        throw InputError(fmt::format(
            "device '{}': kernels run on cuda:N, opencl:PLATFORM.DEVICE or model:PROFILE; for "
            "another program's times see --dump and --import",
            id));
    const auto devices = bench::list_devices();
    const auto found = std::ranges::find(devices, id, &bench::DeviceFacts::id);
    if (found == devices.end())
        throw NothingToRunOn(fmt::format("no device '{}'; 'occupipe list devices' names them", id));
    RealDevice device{.id = id, .name = found->name, .cpu = found->cpu};
    if (!cuda) return device;
    std::string digits = found->compute_capability;
    std::erase(digits, '.');
    device.architecture = "sm_" + digits;
    if (architecture_of(profile) != device.architecture)
        throw InputError(fmt::format(
            "device '{}': {} has compute capability {}, the profile of {} {}: machine code and "
            "occupancies would be another GPU's",
            id, found->name, found->compute_capability, profile.device.name,
            profile.device.compute_capability.empty() ? "none"
                                                      : profile.device.compute_capability));
    return device;
}

std::string wrong_result(const RealDevice& device, const SuiteKernel& kernel,
                         const std::string& architecture, const CompileText& compile) {
    const LaunchPlan plan = read_launches(kernel.small);
    const KernelFile file = compile(plan, architecture);
    extract::PlanRun executed(plan, file.cubin, file.ptx);
    executed.execute({.measure_memory = false});
    const bench::LaunchedPlan ran = bench::launch_on_device(
        device.id, plan, device.architecture.empty() ? std::string() : file.bytes);
    for (const BufferCheck& check : plan.checks) {
        const BufferPlan& buffer = *plan.find_buffer(check.buffer);
        const bool real = is_floating(buffer.type);
        const auto compared =
            extract::compare(buffer, ran.buffers.at(check.buffer), executed.bytes(check.buffer),
                             real ? result_absolute : 0, real ? result_relative : 0);
        if (!compared.agrees())
            return fmt::format(
                "{}: {} of {} elements of '{}' are wrong, the first is [{}]: {} "
                "instead of {}",
                kernel.name, compared.different, compared.elements, check.buffer, *compared.first,
                compared.found, compared.expected);
    }
    return {};
}

DeviceTimes timed_on(const RealDevice& device, const ReadyKernel& ready, const std::string& size,
                     double clock_hz, int repetitions, const CompileText& compile) {
    const LaunchPlan plan = read_launches(size == "small" ? ready.suite.small : ready.suite.large);
    std::string code;
    if (!device.architecture.empty()) code = compile(plan, device.architecture).bytes;
    const std::vector<TimedLaunch> launches = timed_launches(ready);
    bench::LaunchToTime timed{
        .kernel = ready.suite.name, .shared_bytes = {}, .repetitions = repetitions};
    for (const TimedLaunch& one : launches) timed.shared_bytes.push_back(one.shared_bytes);
    bench::LaunchTimes taken = bench::time_on_device(device.id, plan, timed, code);
    DeviceTimes times{.launches = {}, .doubt = std::move(taken.doubt)};
    for (std::size_t i = 0; i < launches.size(); ++i) {
        std::vector<double>& seconds = taken.seconds[i];
        std::ranges::sort(seconds);
        times.launches.emplace_back(Launch{.group_warps = ready.group_warps,
                                           .concurrent_groups = launches[i].concurrent_groups,
                                           .groups = ready.groups},
                                    seconds[seconds.size() / 2] * clock_hz);
    }
    std::ranges::reverse(times.launches);  // fewest groups first
    return times;
}

}  // namespace occupipe::analysis
