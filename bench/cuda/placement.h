// SPDX-License-Identifier: MIT
// How a launch should be placed on the GPU, and whether it was: pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "bench/backend.h"
#include "bench/cuda/stamps.h"
#include "core/measurement.h"

namespace occupipe::bench {

// What one core holds; bytes of shared memory.
struct CoreLimits {
    std::int64_t warps = 0;
    std::int64_t groups = 0;
    std::int64_t group_warps = 0;
    std::int64_t shared_bytes = 0;
    std::int64_t group_shared_bytes = 0;     // most that one group may ask for
    std::int64_t reserved_shared_bytes = 0;  // taken by the system from each group's share
};

// Dynamic shared memory per group that leaves room for exactly shape.concurrent_groups groups on a
// core (or as near as the limits let: other limits may bind first), and at least needed_bytes.
// Throws DeviceError when the shape does not fit.
std::int64_t dynamic_shared_bytes(const CoreLimits& limits, const MeasurementShape& shape,
                                  std::int64_t static_bytes, std::int64_t needed_bytes);

// Dynamic shared memory per group with which exactly `wanted` groups are resident on a core:
// `bytes`, or as little more (less) as makes it so where more (fewer) groups fit with that; between
// `needed` and `most`. `resident`: the number of resident groups with that many bytes, according to
// the driver. nullopt where no amount does it.
std::optional<std::int64_t> shared_bytes_for_residency(
    std::int64_t bytes, std::int64_t needed, std::int64_t most, int wanted,
    const std::function<int(std::int64_t bytes)>& resident);

// Warp schedulers of a core by compute capability; nullopt where we know no source.
std::optional<int> schedulers_per_core(int major);

// Cycles, clock and counters from what the warps left. `stamps`: group by group, warp by warp;
// tick_ns: step of the global timer, 0 = not known (then no clock); schedulers: of a core, absent =
// not known (then nothing is said about them); checkpointed_instructions: of one warp, where its
// kernel also noted the clock on the way (then the window in which all warps ran is among the
// counters). Throws DeviceError when a warp left nothing,
// TransientDeviceError when groups did not start together, or when they did not lie as the shape
// says: concurrent_groups on each of `cores` cores.
Observation evaluate_stamps(const StampHeader& header, std::span<const WarpStamp> stamps,
                            const MeasurementShape& shape, int cores, double tick_ns,
                            std::optional<int> schedulers = std::nullopt,
                            std::optional<double> checkpointed_instructions = std::nullopt);

}  // namespace occupipe::bench
