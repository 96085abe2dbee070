// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "bench/backend.h"

namespace occupipe::cli {

inline constexpr const char* device_help =
    "cuda:N, opencl:PLATFORM.DEVICE (see 'occupipe list devices'), or\n"
    "model:PROFILE.yaml[?noise=0.02&seed=7], a device whose times come from the simulator;\n"
    "default: the first GPU, else the first OpenCL device";

// Opens what --device names; empty = the default. Throws InputError or NothingToRunOn.
std::unique_ptr<bench::Backend> open_named_device(const std::string& device);

}  // namespace occupipe::cli
