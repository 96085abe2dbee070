// SPDX-License-Identifier: MIT
#include "bench/devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "bench/cuda/cuda_backend.h"
#include "core/error.h"
#if OCCUPIPE_OPENCL
#include "bench/opencl/opencl_backend.h"
#endif

namespace occupipe::bench {
namespace {

// Reads a whole non-negative number from the front of `text` and removes it.
std::optional<int> take_number(std::string_view& text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || value < 0) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

}  // namespace

std::vector<DeviceFacts> list_devices() {
    std::vector<DeviceFacts> devices = cuda_devices();
#if OCCUPIPE_OPENCL
    for (DeviceFacts& facts : opencl_devices()) devices.push_back(std::move(facts));
#endif
    return devices;
}

std::string default_device() {
    const auto devices = list_devices();
    if (devices.empty()) {
        throw NothingToRunOn(
            "no device: neither a CUDA driver with a GPU nor an OpenCL platform was found "
            "(on Debian, the package pocl-opencl-icd makes the CPU an OpenCL device)");
    }
    const auto gpu = std::ranges::find(devices, false, &DeviceFacts::cpu);
    return (gpu == devices.end() ? devices.front() : *gpu).id;
}

std::unique_ptr<Backend> open_device(const std::string& id,
                                     std::shared_ptr<const KernelCompiler> compiler) {
    std::string_view rest = id;
    if (rest.starts_with("cuda:")) {
        rest.remove_prefix(5);
        const auto ordinal = take_number(rest);
        if (ordinal && rest.empty()) {
            return open_cuda(*ordinal, cuda_driver_library(), std::move(compiler));
        }
    }
    if (compiler) {
        throw InputError(fmt::format(
            "--kernels: machine code for NVIDIA GPUs needs a device cuda:N, not '{}'", id));
    }
    if (rest.starts_with("opencl:")) {
        rest.remove_prefix(7);
        const auto platform = take_number(rest);
        if (platform && rest.starts_with(".")) {
            rest.remove_prefix(1);
            const auto device = take_number(rest);
            if (device && rest.empty()) {
#if OCCUPIPE_OPENCL
                return open_opencl(*platform, *device);
#else
                throw NothingToRunOn(
                    "this build has no OpenCL backend; build with OpenCL, or choose another "
                    "device");
#endif
            }
        }
    }
    throw InputError(fmt::format(
        "device '{}': expected cuda:N, opencl:PLATFORM.DEVICE or model:PROFILE.yaml", id));
}

}  // namespace occupipe::bench
