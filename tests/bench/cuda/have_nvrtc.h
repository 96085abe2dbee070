// SPDX-License-Identifier: MIT
#pragma once

#include "bench/cuda/driver/nvrtc.h"
#include "core/error.h"

namespace occupipe::bench {

// CUDA kernels can be compiled here.
inline bool have_nvrtc() {
    try {
        nvrtc();
        return true;
    } catch (const DeviceError&) {
        return false;
    }
}

}  // namespace occupipe::bench
