// SPDX-License-Identifier: MIT
// How many groups of a kernel one core of an NVIDIA GPU holds at once, and what limits them.
//   const Occupancy o = occupancy(occupancy_limits(90), {.group_threads = 256, .registers = 40});
//   o.groups, o.limits.front().what, o.limits.front().groups
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace occupipe {

// What one core (multiprocessor) of an architecture can hold.
struct OccupancyLimits {
    int architecture;  // 75, 80, …
    int warps;
    int groups;
    std::int64_t shared_bytes;        // of all resident groups
    std::int64_t group_shared_bytes;  // a group's most, with the opt-in that larger ones need
    std::int64_t reserved_bytes;      // of shared memory, the driver's, in every group
    std::int64_t shared_unit;         // shared memory is given out in multiples of this
    std::optional<int> barriers;      // named barriers of all resident groups; absent: no limit

    static constexpr int warp_threads = 32;
    static constexpr int group_threads = 1024;
    static constexpr int registers = 65536;  // of a core, and a group's most
    static constexpr int thread_registers = 255;
    static constexpr int register_unit = 256;  // of a warp, given out in multiples of this
    static constexpr int partitions = 4;       // each with its part of the registers
    static constexpr int group_barriers = 16;
};

// Of those in core/architectures.h. Throws InputError for others.
const OccupancyLimits& occupancy_limits(int architecture);

struct GroupNeeds {
    int group_threads = 1;
    int registers = 0;              // per thread; 0: no limit from registers
    std::int64_t shared_bytes = 0;  // static and dynamic
    int barriers = 0;               // named barriers that the kernel uses
};

enum class OccupancyLimiter : std::uint8_t { warps, groups, registers, shared_memory, barriers };

// "warps", "groups", "registers", "shared memory", "barriers"
std::string_view to_text(OccupancyLimiter limiter);

struct Occupancy {
    struct Limit {
        OccupancyLimiter what;
        int groups;  // that it alone would allow
    };
    int groups = 0;             // resident on one core
    int group_warps = 0;        // of one group
    int warps = 0;              // resident on one core
    double share = 0;           // of the warps that the core can hold
    std::vector<Limit> limits;  // tightest first; equal ones in the enumeration's order
};

// Throws InputError where not even one group fits, with what it needs and what there is.
Occupancy occupancy(const OccupancyLimits& limits, const GroupNeeds& needs);

}  // namespace occupipe
