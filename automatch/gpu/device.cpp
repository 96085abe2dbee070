// SPDX-License-Identifier: MIT
#include "automatch/gpu/device.h"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "automatch/device_code.h"
#include "core/error.h"

namespace occupipe::automatch {

std::optional<int> nvidia_lanes(int major, int minor) {
    switch (major) {
        case 5:
        case 9:
        case 10:
        case 11:
        case 12:
            return 128;
        case 6:
            return minor == 0 ? 64 : 128;
        case 7:
            return 64;
        case 8:
            return minor == 0 ? 64 : 128;
        default:
            return std::nullopt;
    }
}

std::string probe_kernels() {
    return std::string(embedded(device_code(), "automatch/gpu/device/numbers.cl"));
}

std::unique_ptr<ProbedDevice> open_probed_device(
    const std::string& id, const std::shared_ptr<const bench::KernelCompiler>& compiler) {
    int platform = 0, number = 0, end = 0;
    const auto is_all = [&] { return static_cast<std::size_t>(end) == id.size(); };
    if (std::sscanf(id.c_str(), "cuda:%d%n", &number, &end) == 1 && is_all())
        return open_probed_cuda(number, compiler);
    if (std::sscanf(id.c_str(), "opencl:%d.%d%n", &platform, &number, &end) == 2 && is_all()) {
#if OCCUPIPE_OPENCL
        return open_probed_opencl(platform, number);
#else
        throw NothingToRunOn(
            "this build has no OpenCL backend; build with OpenCL, or choose "
            "another device");
#endif
    }
    throw InputError(fmt::format(
        "--device {}: expected cpu, a part of it such as cpu:0-3, opencl:PLATFORM.DEVICE "
        "or cuda:N (see 'occupipe list devices')",
        id));
}

}  // namespace occupipe::automatch
