// SPDX-License-Identifier: MIT
// CUDA source as people have it, with host code, headers of C and C++ and templates, to machine
// code: by NVRTC where that suffices, else by nvcc.
#pragma once

#include <string>
#include <vector>

#include "bench/cuda/driver/kernel_compiler.h"

namespace occupipe::analysis {

struct CompiledSource {
    bench::NvrtcOutput output;
    // How it was compiled where NVRTC alone did not do; empty: it did.
    std::string note;
};

struct CompileEffort {
    bool line_numbers = true;
    // False: other kernels than those wanted are left out of the text, where it compiles without
    // them; the machine code of those wanted is the same.
    bool other_kernels = true;

    bool operator==(const CompileEffort&) const = default;
};

// `kernels`: that are wanted; one with template arguments ("fill<4>") is instantiated. `options`:
// of NVRTC and nvcc. The options of the project (core/files/compile_commands.h) stand before them;
// headers that are not found with them are looked for in the folders above the source, and in those
// beside these.
// Throws InputError with the compiler's first error, DeviceError where there is no compiler.
CompiledSource compile_cuda_source(const std::string& path, const std::string& text,
                                   const std::string& architecture,
                                   const std::vector<std::string>& options,
                                   const std::vector<std::string>& kernels,
                                   const CompileEffort& effort = {});

// Why a kernel that is wanted is not in the machine code of its source: it is a template, which
// --kernel instantiates, or stands under a condition of the preprocessor; empty: neither.
std::string why_not_compiled(const std::string& path, const std::string& text,
                             const std::string& kernel);

}  // namespace occupipe::analysis
