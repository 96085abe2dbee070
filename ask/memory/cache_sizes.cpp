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

// What the smallest part for shared memory that holds so much leaves of the unified memory.
std::optional<CacheSize> beside_shared_memory(const GpuProfile& profile, double shared) {
    const auto* const unified =
        std::ranges::find(unified_memories, architecture_of(profile), &Unified::architecture);
    if (unified == std::end(unified_memories)) return std::nullopt;
    const auto part = std::ranges::find_if(unified->shared,
                                           [&](int part_kib) { return part_kib * kib >= shared; });
    const double taken = part == unified->shared.end() ? unified->shared.back() * kib : *part * kib;
    return CacheSize{
        unified->bytes - taken,
        fmt::format("compute capability {}: {:g} KiB with shared memory, which takes {:g}",
                    profile.device.compute_capability, unified->bytes / kib, taken / kib)};
}

// The entry of this cache: the last one is device memory, the ones before it the caches, and the
// nearest cache is the first entry where there are enough.
const MemoryLevel* seen_of(std::span<const MemoryLevel> measured, LevelNumber cache) {
    const std::size_t from_behind = memory_levels().size() - cache;
    if (measured.size() < from_behind) return nullptr;
    return cache == 0 ? &measured.front() : &measured[measured.size() - from_behind];
}

// Whether working sets of so many bytes were seen not to fit, or none larger than those that did.
bool seen_to_miss(const MemoryLevel& seen, std::span<const MemoryLevel> measured, double bytes) {
    const auto next = static_cast<std::size_t>(&seen - measured.data()) + 1;
    return next >= measured.size() || bytes >= measured[next].first_bytes;
}

}  // namespace

CacheSizes cache_sizes(const Kernel& kernel, const GpuProfile& profile, const CacheSizes& asked) {
    CacheSizes sizes = asked;
    const std::span<const MemoryLevel> measured = measured_levels(profile);
    const double shared = shared_bytes(kernel, architecture_of(profile));
    for (LevelNumber cache = 0; cache < device_memory(); ++cache) {
        const LevelRow& level = cache_levels()[cache];
        if (sizes.contains(level.name)) continue;
        std::optional<CacheSize> size;
        if (level.sharer == Sharer::core) size = beside_shared_memory(profile, shared);
        if (const MemoryLevel* const seen = seen_of(measured, cache)) {
            const double taken = level.sharer == Sharer::core ? shared : 0;
            const auto from = [&](std::string_view less) {
                return fmt::format("the largest working set of {} that fits{}", seen->instruction,
                                   less);
            };
            if (!size)
                size = {std::max(0.0, seen->last_bytes - taken),
                        from(taken > 0 ? ", less the groups' shared memory" : "")};
            else if (seen->last_bytes < size->bytes && seen_to_miss(*seen, measured, size->bytes))
                size = {seen->last_bytes, from("")};
        }
        if (size) sizes.emplace(level.name, *size);
    }
    return sizes;
}

}  // namespace occupipe::analysis
