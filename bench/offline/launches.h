// SPDX-License-Identifier: MIT
// The table of launches for another program to run (docs/how-to/measure-elsewhere.md), and its
// results.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/kernel/sweep.h"
#include "bench/offline/carrier.h"

namespace occupipe::bench {

struct CarriedLaunch {
    PlannedPoint point;
    std::string kernel;  // its name
    CarriedBuffer in;
    std::map<std::string, std::int64_t> counts;  // per warp and iteration
    std::map<std::string, std::int64_t> beside;  // … of what stands beside the counted ones
    std::size_t shared_bytes = 0;
    std::size_t stamp_bytes = 0;  // per warp
};

// One row per launch and repetition. `cores`, `warp_size`: of the device that it is meant for;
// `one_group`: a CPU's core runs one work-item, whatever the number of cores.
std::string format_launches(const std::vector<CarriedLaunch>& launches, const DeviceFacts& facts,
                            int repetitions);

struct ReturnedTime {
    int line = 0;
    std::string point;
    int repetition = 0;
    std::map<std::string, double> counters;
    double cycles = 0;
};

// The rows whose cycles are filled in. Throws InputError (FILE:LINE: KEY: REASON) for anything that
// is not as format_launches writes it, a duplicate repetition, cycles that are not a positive
// number, and, unless `partial`, missing cycles.
std::vector<ReturnedTime> parse_launches(const std::string& text, const std::string& file_name,
                                         bool partial);

}  // namespace occupipe::bench
