// SPDX-License-Identifier: MIT
// What a program is before it is started: whether it uses CUDA, and by which library.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace occupipe::program {

struct Executable {
    bool is_elf = false;             // else a script, which may start what uses CUDA
    std::vector<std::string> needs;  // libraries, by name: "libcudart.so.13"
    bool has_device_code = false;    // a fat binary is in it
    bool fixed_search = false;       // its DT_RPATH comes before LD_LIBRARY_PATH

    // The needed library whose name begins so; empty: none.
    std::string needs_like(const std::string& begin) const;
};

// Throws InputError where there is no such file, or it cannot be read as what it seems to be.
Executable look_at_executable(const std::filesystem::path& path);

// As a shell finds it: a name without a slash on the PATH. Throws InputError that says why not.
std::filesystem::path find_program(const std::string& name);

// Why the program cannot be run so, with what mends it; empty: it can.
std::string why_not_run(const Executable& executable, const std::string& name);

// What is needed and does not do its work without a GPU: "libcublas.so.13"; it may be started.
std::vector<std::string> needed_closed_libraries(const Executable& executable);

}  // namespace occupipe::program
