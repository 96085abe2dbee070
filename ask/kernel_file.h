// SPDX-License-Identifier: MIT
// Kernels as files: CUDA (.cu, .cuh), OpenCL C (.cl), PTX (.ptx, also as cuobjdump prints it),
// machine code (.cubin), and what holds some of these: fat binaries, host objects, executables,
// libraries.
#pragma once

#include <string>
#include <vector>

#include "ask/cuda_source.h"
#include "isa/cubin.h"

namespace occupipe::analysis {

class CodeCache;

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

struct CompileRequest {
    // "sm_90"; may be empty for PTX (its .target), machine code, which has to be of it where it is
    // given, and files with code for one architecture.
    std::string architecture = {};
    // Taken where `architecture` is empty and the file leaves a choice: that of a profile.
    std::string preferred_architecture = {};
    // Of NVRTC and nvcc, ptxas or clang; "-Xptxas=OPTION" of ptxas for OpenCL C, too.
    std::vector<std::string> options = {};
    std::vector<std::string> usual_options = {};  // where there are none; machine code does without
    std::string clang = {};  // for OpenCL C; empty: searched (bench/cuda/driver/opencl_c.h)
    // That are wanted: templates are instantiated ("fill<4>"), and of several images of code the
    // one that has them is taken. Empty names are passed over.
    std::vector<std::string> kernels = {};
    CompileEffort effort = {};   // of NVRTC
    CodeCache* cache = nullptr;  // of what NVRTC compiled; none: always compiled
};

// Compiles what is not compiled, with line numbers unless the effort leaves them out. Throws
// InputError; DeviceError where a compiler is needed and not there.
KernelFile read_kernel_file(const std::string& path, const CompileRequest& request);

// Every image of the architecture that the file holds, one for each text that was compiled; of
// other files the one that read_kernel_file() returns.
std::vector<KernelFile> read_kernel_files(const std::string& path, const CompileRequest& request);

KernelFile read_kernel_file(const std::string& path, const std::string& architecture,
                            const std::vector<std::string>& options, const std::string& clang = {},
                            const std::vector<std::string>& usual_options = {});

// Whether the name is one of source, which `architecture` says what to compile for.
bool is_source(const std::string& path);

}  // namespace occupipe::analysis
