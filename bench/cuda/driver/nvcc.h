// SPDX-License-Identifier: MIT
// NVIDIA's compiler as a program, for the device side of source that has a host side, too. Needs no
// GPU, but a host compiler, whose headers such source includes.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/cuda/driver/find_cuda.h"
#include "bench/cuda/driver/host_headers.h"
#include "bench/cuda/driver/kernel_compiler.h"

namespace occupipe::bench {

struct Nvcc {
    std::filesystem::path program;
};

// $OCCUPIPE_NVCC (a path; "none": there is none), else find_cuda_tool(). Throws DeviceError where
// it is not there, or hidden, which OCCUPIPE_NVRTC=none does as well.
Nvcc find_nvcc(const Surroundings& from);

// How people get one; packages of the Python package index.
inline constexpr const char* how_to_get_nvcc =
    "pip install nvidia-cuda-nvcc nvidia-nvvm nvidia-cuda-crt nvidia-cuda-runtime nvidia-cuda-cccl";

// For source that does not compile as it is.
struct NvccRepair {
    std::vector<Header> headers;  // found where no other is
    // Of what comes out of the preprocessor, and what nvcc said of it: what is to be compiled
    // instead; nothing: nothing can be done.
    std::function<std::optional<std::string>(const std::string& text, const std::string& said)>
        next_text;
};

// `options`: those of NVRTC that nvcc has, too; what NVRTC alone knows is left out. `instances`:
// kernel templates with their arguments ("fill<4>") that are wanted beside what the source
// instantiates. Throws CompileError with the compiler's words.
NvrtcOutput compile_nvcc(const Nvcc& nvcc, const std::filesystem::path& source,
                         const std::string& architecture, const std::vector<std::string>& options,
                         const std::vector<std::string>& instances, const NvccRepair& repair = {});

}  // namespace occupipe::bench
