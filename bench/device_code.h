// SPDX-License-Identifier: MIT
// Code for devices: the files of bench/cuda/device/ and bench/opencl/device/.
#pragma once

#include "core/files/embedded.h"

namespace occupipe::bench {

std::span<const EmbeddedFile> device_code();

}  // namespace occupipe::bench
