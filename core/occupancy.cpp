// SPDX-License-Identifier: MIT
#include "core/occupancy.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/architectures.h"
#include "core/error.h"

namespace occupipe {
namespace {

std::int64_t round_up(std::int64_t value, std::int64_t unit) {
    return (value + unit - 1) / unit * unit;
}

void require(std::string_view what, std::int64_t needed, std::int64_t most, int architecture) {
    if (needed > most)
        throw InputError(fmt::format("a group needs {} {}; one on sm_{} can have {}", needed, what,
                                     architecture, most));
}

}  // namespace

const OccupancyLimits& occupancy_limits(int architecture) {
    const Architecture* const found = find_architecture(architecture);
    if (found == nullptr) {
        std::string known;
        for (const Architecture& one : architectures())
            known += fmt::format("{}sm_{}", known.empty() ? "" : ", ", one.number);
        throw InputError(
            fmt::format("how many groups a core of sm_{} holds is not known; known are {}",
                        architecture, known));
    }
    return found->limits;
}

std::string_view to_text(OccupancyLimiter limiter) {
    constexpr std::string_view names[] = {"warps", "groups", "registers", "shared memory",
                                          "barriers"};
    return names[static_cast<std::size_t>(limiter)];
}

Occupancy occupancy(const OccupancyLimits& limits, const GroupNeeds& needs) {
    using enum OccupancyLimiter;
    if (needs.group_threads < 1) throw InputError("a group has at least one thread");
    if (needs.registers < 0 || needs.shared_bytes < 0 || needs.barriers < 0)
        throw InputError("a group cannot need less than nothing");
    require("threads", needs.group_threads, limits.group_threads, limits.architecture);
    require("registers per thread", needs.registers, limits.thread_registers, limits.architecture);
    require("bytes of shared memory", needs.shared_bytes, limits.group_shared_bytes,
            limits.architecture);
    require("barriers", needs.barriers, limits.group_barriers, limits.architecture);

    Occupancy found;
    found.group_warps = (needs.group_threads + limits.warp_threads - 1) / limits.warp_threads;
    const auto add = [&](OccupancyLimiter what, std::int64_t groups) {
        found.limits.push_back({what, static_cast<int>(groups)});
    };
    add(warps, limits.warps / found.group_warps);
    add(groups, limits.groups);
    if (needs.registers > 0) {
        const std::int64_t warp_registers =
            round_up(std::int64_t{needs.registers} * limits.warp_threads, limits.register_unit);
        // A launch is checked as if every partition had as many of the group's warps.
        require("registers", warp_registers * round_up(found.group_warps, limits.partitions),
                limits.registers, limits.architecture);
        const std::int64_t partition_warps = limits.registers / limits.partitions / warp_registers;
        add(registers, partition_warps * limits.partitions / found.group_warps);
    }
    const std::int64_t shared =
        round_up(needs.shared_bytes + limits.reserved_bytes, limits.shared_unit);
    if (shared > 0) add(shared_memory, limits.shared_bytes / shared);
    if (needs.barriers > 0 && limits.barriers) add(barriers, *limits.barriers / needs.barriers);

    std::ranges::stable_sort(found.limits, {}, &Occupancy::Limit::groups);
    found.groups = found.limits.front().groups;
    found.warps = found.groups * found.group_warps;
    found.share = static_cast<double>(found.warps) / limits.warps;
    return found;
}

}  // namespace occupipe
