// SPDX-License-Identifier: MIT
// One core with several units, event by event: warps whose instructions go to different units,
// issue ports, and groups of warps that meet at barriers. As event_core.h it knows no law.
#pragma once

#include <cstddef>
#include <vector>

namespace occupipe::test {

// What one kind of instruction takes of the core: cycles that it keeps each of its units busy
// (0: it does not go there), and cycles until the next one of its kind may issue.
struct Station {
    std::vector<double> service;  // by unit, of the core
    double latency = 1;

    // The longest: one per so many cycles at best.
    double slowest() const;
};

struct MixedCore {
    std::vector<Station> stations;
    std::size_t units = 1;
    int schedulers = 1;
    double port = 0;  // cycles from one issue of a scheduler to its next
};

// Cycles until all warps have run `depth` instructions of the repeated pattern (places in
// `stations`), in order, each waiting for the one of its kind before it. Loose round robin.
double run_mixed(const MixedCore& core, const std::vector<std::size_t>& pattern, int depth,
                 int warps);

// Cycles until `groups` groups of `group_warps` warps have passed `depth` barriers: each warp's
// arrival keeps the one unit busy for `service` cycles; `latency` after the last of its group has
// arrived all of them go on.
double run_barriers(double service, double latency, int groups, int group_warps, int depth);

}  // namespace occupipe::test
