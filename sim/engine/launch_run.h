// SPDX-License-Identifier: MIT
// All cores of a launch whose groups differ. Cores share nothing but the line of groups that wait
// for a free slot, so that each runs alone from one free slot to the next.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/engine/simulate.h"
#include "sim/machine/core_layout.h"

namespace occupipe::sim {

struct LaunchRun {
    SimulationResult last_core;               // of the core that ends last, the first of several
    std::vector<std::int32_t> kinds_of_last;  // its groups, in the order in which it began them
};

// Which core gets one of the long groups more than others, where some are longer: a share of the
// time of a core that executes so many instructions.
double chance_of_a_long_group(const CoreLayout& layout, double instructions);

// `layout` without groups, as build_layout() makes it. A core that has free slots takes the next
// groups of the launch; where several have, one group each in turn, the first core first. Cores
// that were given the same groups are simulated once. With options.estimate, groups are
// skipped where the cores have come to a steady rate, in each part of the launch that has its own:
// the result's bounds are then those of the mean core, and kinds_of_last lacks them. Throws
// LimitReached after options.max_simulated, and what options.checkpoint throws.
LaunchRun run_launch(const CoreLayout& layout, const LaunchGroups& groups, std::int64_t count,
                     int cores, const SimulationOptions& options);

}  // namespace occupipe::sim
