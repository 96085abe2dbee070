// SPDX-License-Identifier: MIT
// NVIDIA's assembler as a program: PTX → machine code. Needs no GPU.
#pragma once

#include <string>
#include <vector>

#include "bench/cuda/driver/kernel_compiler.h"

namespace occupipe::bench {

// `architecture`: "sm_90". Throws CompileError with the assembler's words where it refuses the
// text, DeviceError where there is no ptxas (find_cuda.h).
NvrtcOutput assemble_ptx(const std::string& ptx, const std::string& architecture,
                         const std::vector<std::string>& options);

}  // namespace occupipe::bench
