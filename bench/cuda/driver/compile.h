// SPDX-License-Identifier: MIT
// Kernel text → CUDA source, PTX, machine code and receipt. Needs NVRTC, no GPU and no driver.
#pragma once

#include <string>
#include <vector>

#include "bench/cuda/driver/kernel_compiler.h"
#include "bench/cuda/proof/receipt.h"
#include "bench/kernel/kernel_source.h"

namespace occupipe::bench {

struct CompiledKernel {
    std::string source;  // prelude and body
    std::string ptx;
    std::string cubin;
    Receipt receipt;
};

inline constexpr int gpu_line_words = 32;  // 128-byte lines

// Words of memory that one request of a warp in this kernel's walk covers.
int walked_words(const KernelPlan& plan);

// Iterations in which every chain of a chase goes once around a table that a first-level cache may
// hold (1 MiB and less); 0 for all else.
int lap_iterations(const KernelPlan& plan, const TableSizes& tables);

// cuda_prelude() for this kernel.
std::string prelude_of(const KernelPlan& plan, const TableSizes& tables);

// `architecture`: "sm_90". Throws DeviceError with the compiler's words; a receipt with faults is
// returned, not thrown. `compiler`: nullptr is NVRTC on this machine.
CompiledKernel compile_cuda(const KernelSource& source, const std::string& architecture,
                            const TableSizes& tables = {},
                            const KernelCompiler* compiler = nullptr);

// The same for text that is complete (prelude and body), with the kernel in it named `entry`.
CompiledKernel compile_text(const KernelPlan& plan, std::string text,
                            const std::string& architecture, const char* entry,
                            const KernelCompiler* compiler = nullptr);

// Kernels besides those of the rows that measuring needs, as complete text.
std::vector<std::string> cuda_helper_texts();

}  // namespace occupipe::bench
