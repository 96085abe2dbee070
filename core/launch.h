// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace occupipe {

// Beyond this, groups times warps of a group leave 64 bits.
inline constexpr std::int64_t most_groups = 1'000'000'000'000;

// How a kernel is launched on the GPU. ω = group_warps * concurrent_groups.
struct Launch {
    int group_warps = 1;        // |γ|: warps per group
    int concurrent_groups = 1;  // γ: groups resident on one core
    std::int64_t groups = 1;    // groups of the whole launch, all cores

    int warps() const { return group_warps * concurrent_groups; }
    // Groups that the busiest core runs: ceil(groups / cores).
    std::int64_t groups_per_core(int cores) const {
        return groups / cores + (groups % cores != 0 ? 1 : 0);
    }

    bool operator==(const Launch&) const = default;
};

}  // namespace occupipe
