// SPDX-License-Identifier: MIT
// Kernels as files: CUDA (.cu), OpenCL C (.cl), PTX (.ptx) or machine code (.cubin).
#pragma once

#include <string>
#include <vector>

#include "isa/cubin.h"

namespace occupipe::analysis {

struct KernelFile {
    std::string path;
    isa::Cubin cubin;
    std::string bytes;                 // of the machine code, an ELF file
    std::string ptx;                   // empty: machine code alone was given
    std::string compiler;              // "NVRTC 13.0", "ptxas"; empty: compiled before
    std::vector<std::string> options;  // that it was given
    // What a reader of its numbers has to know of the compilation; empty: nothing.
    std::string note;
};

// Compiles what is not compiled, with line numbers. `architecture`: "sm_90"; may be empty for PTX
// (its .target) and machine code, which has to be of it where it is given. `options`: of NVRTC,
// ptxas or clang; "-Xptxas=OPTION" of ptxas for OpenCL C, too. `clang`: a program for OpenCL C;
// empty: searched (bench/cuda/driver/opencl_c.h). `usual_options`: where there are none; machine
// code does without them. Throws InputError; DeviceError where a compiler is needed and not there.
KernelFile read_kernel_file(const std::string& path, const std::string& architecture,
                            const std::vector<std::string>& options, const std::string& clang = {},
                            const std::vector<std::string>& usual_options = {});

}  // namespace occupipe::analysis
