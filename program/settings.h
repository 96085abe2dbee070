// SPDX-License-Identifier: MIT
// What `occupipe run` tells the library that stands for the CUDA runtime, in a file of the folder
// that the environment names.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/gpu_profile.h"

namespace occupipe::program {

// The folder, for the process and those that it starts. The library refuses to work without it.
inline constexpr const char* folder_variable = "OCCUPIPE_RUN_FOLDER";

// What becomes of an access outside of memory or a misaligned one.
enum class OnError : std::uint8_t {
    as_cuda,  // ends its launch, and the program gets CUDA's error, as on a GPU
    stop,     // ends the program
    report,   // is left out, and the kernel goes on
};

struct Settings {
    std::vector<GpuProfile> profiles;  // the first is the device that the program sees
    bool every_launch = false;         // is predicted, not the first of each kernel and shape alone
    std::uint64_t launch_instructions = 0;  // of warps, that one launch may take; 0: no limit
    OnError on_error = OnError::as_cuda;
    // Launches are executed as far as predictions need it: what they compute is wrong.
    bool sample = false;
    bool check = false;            // reads of what nothing has written, and races
    bool predicted_clock = false;  // the host's timers show predicted time
    bool trace = false;            // the journal gets when each operation begins
};

void write_settings(const std::filesystem::path& folder, const Settings& settings);
// Throws InputError.
Settings read_settings(const std::filesystem::path& folder);

}  // namespace occupipe::program
