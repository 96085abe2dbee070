// SPDX-License-Identifier: MIT
// Code for devices: gpu/device/.
#pragma once

#include "core/files/embedded.h"

namespace occupipe::automatch {

std::span<const EmbeddedFile> device_code();

}  // namespace occupipe::automatch
