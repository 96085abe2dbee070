// SPDX-License-Identifier: MIT
// Where NVIDIA's compiler and tools may be on a machine: a toolkit, Python wheels, the folder that
// tools/setup.sh fills. Nothing is run to find them.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace occupipe::bench {

// What the search goes by.
struct Surroundings {
    std::function<std::optional<std::string>(const char*)> variable;  // of the environment
    std::filesystem::path program;  // the running program; empty where unknown
    // Stands before the fixed places (/usr/local/cuda …), not before those that a variable names.
    std::filesystem::path root = "/";

    static Surroundings of_this_process();
};

// The value of OCCUPIPE_NVRTC that hides NVRTC.
inline constexpr std::string_view nvrtc_hidden = "none";

// Folders laid out as a toolkit is (bin/ and lib64/, lib/ or targets/x86_64-linux/lib/) that exist,
// best first: $CUDA_HOME, $CUDA_PATH, nvcc's own on $PATH, /usr/local/cuda*, /opt/cuda,
// $OCCUPIPE_CUDA_WHEELS, cuda-wheels/ beside or above the program, then nvidia/* in the
// package folders of Python.
std::vector<std::filesystem::path> cuda_folders(const Surroundings& from);

// Names to open NVRTC by, best first: $OCCUPIPE_NVRTC alone where it is set (none at all where it
// says so), else the loader's own search, then cuda_folders; version 13 or 12 before others.
std::vector<std::string> nvrtc_names(const Surroundings& from);

// ptxas, nvdisasm, …: on $PATH, else in bin/ of cuda_folders.
std::optional<std::filesystem::path> find_cuda_tool(std::string_view name,
                                                    const Surroundings& from);

}  // namespace occupipe::bench
