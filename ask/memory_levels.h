// SPDX-License-Identifier: MIT
// The levels of a GPU's memory, nearest first, the last of them device memory. A new level is a row
// of memory_levels.cpp; options, reports and prices follow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/memory_use.h"

namespace occupipe::analysis {

// Whose accesses find in a level what others have brought there.
enum class Sharer : std::uint8_t { core, device };

// Rows of a profile for one access pattern: a chase for Λ, a stream for λ; empty: no such row.
struct LevelAccess {
    double sectors = 0;  // of 32 bytes, per request
    std::string_view chase, stream;
};

// Row of a profile whose requests touch many lines, or go through the banks many times.
struct SpreadAccess {
    double count = 0;  // lines or passes of a request; 0: no such row
    std::string_view chase;
};

struct LevelRow {
    std::string_view name;  // of options and files: "l1"
    std::string_view nth;   // of the caches: "first"; device memory: empty
    std::string_view lost;  // what is assumed where the cache's size is not known
    Sharer sharer = Sharer::device;
    // Loads of 4, 8 and 16 bytes a lane, sectors ascending; where two ask for as many, the first
    // that the profile has.
    std::vector<LevelAccess> accesses[3];
    SpreadAccess lines = {};
    SpreadAccess passes = {};
};

using LevelNumber = std::size_t;  // place in memory_levels()

std::span<const LevelRow> memory_levels();
std::span<const LevelRow> cache_levels();  // all but device memory
LevelNumber device_memory();
// The nearest level that all cores share: it executes atomic operations, and keeps what is written.
LevelNumber shared_cache();

// Bytes of a cache that groups of the kernel find: of one core without what shared memory takes, or
// of the device.
struct CacheSize {
    double bytes = 0;
    std::string from;  // "the profile's memory levels", "asked for", …

    bool operator==(const CacheSize&) const = default;
};
using CacheSizes = std::map<std::string, CacheSize, std::less<>>;  // by name of the level

std::string heading(LevelNumber level);  // of a column: "L1"

std::optional<double> bytes_of(const CacheSizes& sizes, LevelNumber cache);

// Which part of the sectors that an instruction reads each level answers, by its number; sums to 1.
using LevelShares = std::vector<double>;

LevelShares level_shares(const MemoryUse& use, const CacheSizes& sizes);
// Which part of its requests waits for each level, the farthest that answers a sector of theirs.
LevelShares farthest_levels(const MemoryUse& use, const CacheSizes& sizes);

// Whether a row of this name is what device memory costs: "ld.global.u32", not "ld.global.l2.u32".
bool reaches_device_memory(std::string_view name);

}  // namespace occupipe::analysis
