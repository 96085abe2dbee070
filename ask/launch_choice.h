// SPDX-License-Identifier: MIT
// How a graph is launched where not all of it is said.
//   chosen_launch({.concurrent_groups = 4}, saxpy, profile, said)   // the rest as the kernel file
//   has it
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/gpu_profile.h"
#include "core/kernel.h"
#include "core/launch.h"

namespace occupipe::analysis {

// What is asked for; what is absent comes from the kernel file.
struct LaunchChoice {
    std::optional<int> group_warps;
    std::optional<int> concurrent_groups;
    std::optional<std::int64_t> groups;

    bool operator==(const LaunchChoice&) const = default;
};

// Without any number of groups each core runs as many as it holds at once. A launch that is the
// kernel file's alone is made to fit the profile's limits where that leaves its work as it is, and
// the assumptions say so. Throws InputError when the limits do not admit a launch.
Launch chosen_launch(const LaunchChoice& choice, const Kernel& kernel, const GpuProfile& profile,
                     std::vector<std::string>& assumptions);

// Groups at once that the profile's limits admit. Throws InputError where it has none, or admits
// none.
std::set<int> all_occupancies(int group_warps, const GpuProfile& profile);

// One launch, or one per occupancy: "all", or a list such as "1-10" or "4,8,16" [warps]. As
// chosen_launch().
std::vector<Launch> launches_of(LaunchChoice choice, const std::optional<std::string>& occupancy,
                                const Kernel& kernel, const GpuProfile& profile,
                                std::vector<std::string>& assumptions);

}  // namespace occupipe::analysis
