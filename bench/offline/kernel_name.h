// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "bench/kernel/kernel_source.h"

namespace occupipe::bench {

// A name for the kernel that is good for a function and for a file, differs from kernel to kernel
// and is not a PTX opcode: "occupipe_fma_f32_chains1_unroll128".
std::string kernel_name(const KernelPlan& plan);

}  // namespace occupipe::bench
