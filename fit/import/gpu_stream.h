// SPDX-License-Identifier: MIT
// Results of gpu-stream (te42kyfo/gpu-benches): throughput of streaming kernels against occupancy,
// two blocks per core.
#pragma once

#include <string>
#include <vector>

#include "fit/laws/fit_contention.h"

namespace occupipe {

struct GpuStreamKernel {
    std::string name;                    // "read"
    std::vector<OccupancyPoint> points;  // warps; GB/s
};

// warp_size: threads, which the file does not say. Throws InputError, naming file, line and column
// of text, when it is no such file.
std::vector<GpuStreamKernel> parse_gpu_stream(const std::string& text, const std::string& file_name,
                                              int warp_size = 32);

// By the names that the benchmark's own repository gives its files: mi210.txt is of an AMD
// Instinct, whose wavefronts have 64 threads; all others 32.
int gpu_stream_warp_size(const std::string& file_name);

// One line per kernel: the chosen law, B, Λ0·B, h·B (shares and warps, so without a clock) and how
// well it fits.
std::string format_contention_table(const std::vector<GpuStreamKernel>& kernels);

}  // namespace occupipe
