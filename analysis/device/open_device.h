// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "bench/backend.h"

namespace occupipe::analysis {

inline constexpr const char* device_help =
    "cuda:N, opencl:PLATFORM.DEVICE (see 'occupipe list devices'), or a simulated device:\n"
    "model:PROFILE.yaml[?noise=0.02&seed=7]\n"
    "(default: the first GPU, else the first OpenCL device)";

inline constexpr const char* kernels_help =
    "Kernels that 'measure --compile-only' made (the tar archive, or the folder it was\n"
    "unpacked into); NVRTC is not needed then";

// Opens what --device names; empty = the default. `kernels`: empty = compiled here. Throws
// InputError or NothingToRunOn.
std::unique_ptr<bench::Backend> open_named_device(const std::string& device,
                                                  const std::filesystem::path& kernels = {});

}  // namespace occupipe::analysis
