// SPDX-License-Identifier: MIT
// How long a sweep is likely to take on a GPU, without having one (docs/background/gpu-runs.md).
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "bench/kernel/sweep.h"

namespace occupipe::bench {

struct BlockEstimate {
    std::string_view name;  // order.h
    std::size_t points = 0;
    std::size_t kernels = 0;
    // Absent for CPUs and models: their times differ by orders of magnitude.
    std::optional<double> seconds;
};

enum class KernelsAre { compiled_here, brought_along };

// Blocks that the sweep has points of, in measuring order. Least repetitions; more are only taken
// while the run's budget allows. Calculated, never calibrated on a GPU.
std::vector<BlockEstimate> estimate(const DeviceFacts& facts, const SweepPlan& sweep,
                                    KernelsAre kernels);

}  // namespace occupipe::bench
