// SPDX-License-Identifier: MIT
// Kernel text → CUDA source, PTX, machine code and receipt. Needs NVRTC, no GPU and no driver.
#pragma once

#include <cstddef>
#include <string>

#include "bench/cuda/receipt.h"
#include "bench/kernel_source.h"

namespace occupipe::bench {

struct CompiledKernel {
    std::string source;  // prelude and body
    std::string ptx;
    std::string cubin;
    Receipt receipt;
};

inline constexpr std::size_t default_table_words = std::size_t{1} << 25;  // 128 MiB
inline constexpr int gpu_line_words = 32;                                 // 128-byte lines

// `architecture`: "sm_90". Throws DeviceError with the compiler's words; a receipt with faults is
// returned, not thrown.
CompiledKernel compile_cuda(const KernelSource& source, const std::string& architecture,
                            std::size_t table_words = default_table_words);

}  // namespace occupipe::bench
