// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "ask/memory/memory_pricing.h"
#include "core/occupancy.h"

namespace occupipe::analysis {
namespace {

constexpr double kib = 1024;

// First-level cache and shared memory of one core, and how much of it shared memory may take.
struct Unified {
    int architecture;
    double bytes;
    std::array<int, 10> shared;  // KiB, ascending; unused ones repeat the last
};

// CUDA C++ Programming Guide 13.0, "Shared Memory" of each compute capability.
constexpr Unified unified_memories[] = {
    {75, 96 * kib, {32, 64, 64, 64, 64, 64, 64, 64, 64, 64}},
    {80, 192 * kib, {0, 8, 16, 32, 64, 100, 132, 164, 164, 164}},
    {86, 128 * kib, {0, 8, 16, 32, 64, 100, 100, 100, 100, 100}},
    {89, 128 * kib, {0, 8, 16, 32, 64, 100, 100, 100, 100, 100}},
    {90, 256 * kib, {0, 8, 16, 32, 64, 100, 132, 164, 196, 228}},
    {100, 256 * kib, {0, 8, 16, 32, 64, 100, 132, 164, 196, 228}},
    {120, 128 * kib, {0, 8, 16, 32, 64, 100, 100, 100, 100, 100}},
};

int architecture_of(const GpuProfile& profile) {
    int number = 0;
    for (const char c : profile.device.compute_capability)
        if (c >= '0' && c <= '9' && number < 1000) number = number * 10 + (c - '0');
    return number;
}

// Shared memory of the groups that are on a core at once, with what the driver takes.
double shared_bytes(const Kernel& kernel, int architecture) {
    if (!kernel.memory || kernel.memory->group_shared_bytes == 0) return 0;
    std::int64_t group = kernel.memory->group_shared_bytes;
    if (std::ranges::any_of(unified_memories,
                            [&](const Unified& one) { return one.architecture == architecture; })) {
        const OccupancyLimits& limits = occupancy_limits(architecture);
        group += limits.reserved_bytes;
        group = (group + limits.shared_unit - 1) / limits.shared_unit * limits.shared_unit;
    }
    return static_cast<double>(group) * kernel.memory->concurrent_groups;
}

// The entries of one instruction that has at least two.
std::span<const MemoryLevel> measured_levels(const GpuProfile& profile) {
    const auto& all = profile.memory_levels;
    std::span<const MemoryLevel> best;
    for (std::size_t begin = 0; begin < all.size();) {
        std::size_t end = begin;
        while (end < all.size() && all[end].instruction == all[begin].instruction) ++end;
        const std::span some = std::span(all).subspan(begin, end - begin);
        if (some.size() >= 2 && some.size() > best.size() &&
            some.front().instruction.starts_with("ld.global"))
            best = some;
        begin = end;
    }
    return best;
}

}  // namespace

CacheSizes cache_sizes(const Kernel& kernel, const GpuProfile& profile, const CacheSizes& asked) {
    CacheSizes sizes = asked;
    const std::span<const MemoryLevel> levels = measured_levels(profile);
    const int architecture = architecture_of(profile);
    const double shared = shared_bytes(kernel, architecture);
    if (!sizes.second && !levels.empty()) {
        // The last entry is device memory, the one before it the last cache.
        sizes.second = levels[levels.size() - 2].last_bytes;
        sizes.second_from =
            fmt::format("the largest working set of {} that fits", levels.front().instruction);
    }
    if (sizes.first) return sizes;
    const auto* const unified =
        std::ranges::find(unified_memories, architecture, &Unified::architecture);
    if (unified != std::end(unified_memories)) {
        const auto part = std::ranges::find_if(
            unified->shared, [&](int part_kib) { return part_kib * kib >= shared; });
        const double taken =
            part == unified->shared.end() ? unified->shared.back() * kib : *part * kib;
        sizes.first = unified->bytes - taken;
        sizes.first_from =
            fmt::format("compute capability {}: {:g} KiB with shared memory, which takes {:g}",
                        profile.device.compute_capability, unified->bytes / kib, taken / kib);
    }
    if (levels.size() >= 3) {
        const double measured = levels.front().last_bytes;
        if (!sizes.first) {
            sizes.first = std::max(0.0, measured - shared);
            sizes.first_from =
                fmt::format("the largest working set of {} that fits{}", levels.front().instruction,
                            shared > 0 ? ", less the groups' shared memory" : "");
        } else if (measured < *sizes.first) {
            sizes.first = measured;
            sizes.first_from =
                fmt::format("the largest working set of {} that fits", levels.front().instruction);
        }
    }
    return sizes;
}

LevelShares level_shares(const MemoryUse& use, const CacheSizes& sizes) {
    LevelShares shares;
    if (use.core && sizes.first) shares.first = share_at(*use.core, *sizes.first);
    double found = shares.first;
    if (use.device && sizes.second) found = std::max(found, share_at(*use.device, *sizes.second));
    shares.second = found - shares.first;
    shares.dram = 1 - found;
    return shares;
}

}  // namespace occupipe::analysis
