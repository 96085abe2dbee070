// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "bench/backend.h"

namespace occupipe::analysis {

inline constexpr const char* device_help =
    "cuda:N, opencl:PLATFORM.DEVICE (see 'occupipe list devices'), or\n"
    "model:PROFILE.yaml[?noise=0.02&seed=7], a device whose times come from the simulator;\n"
    "default: the first GPU, else the first OpenCL device";

inline constexpr const char* kernels_help =
    "kernels that 'measure --compile-only' made: the tar archive, or the folder that it\n"
    "was unpacked into; NVRTC need not be there then";

// Opens what --device names; empty = the default. `kernels`: empty = compiled here. Throws
// InputError or NothingToRunOn.
std::unique_ptr<bench::Backend> open_named_device(const std::string& device,
                                                  const std::filesystem::path& kernels = {});

}  // namespace occupipe::analysis
