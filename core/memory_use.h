// SPDX-License-Identifier: MIT
// What an instruction of a kernel asks of the memory, told so that it holds for any GPU: reuse by
// capacity in place of hit shares.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace occupipe {

// From this capacity on, this share of the sectors is found in an LRU cache; both ascend.
struct ReusePoint {
    std::int64_t bytes = 0;  // of the cache, at least 1
    double share = 0;        // 0 < share ≤ 1

    bool operator==(const ReusePoint&) const = default;
};
using Reuse = std::vector<ReusePoint>;  // empty: nothing is found, however large the cache

// The share that a cache of so many bytes finds.
double share_at(const Reuse& reuse, double bytes);

// The share that a cache which replaces lines at random would not find: of what comes again after
// D bytes, 1 - bytes / D.
double share_beyond(const Reuse& reuse, double bytes);

// Why points cannot be. Absent: they can.
std::optional<std::string> fault_of(const Reuse& reuse);

// Means over the executions of one instruction by a warp. Global and local memory: sectors of 32
// bytes and lines of 128; shared memory: passes. An instruction that copies from one to the other
// has both; one that was executed without any active lane has neither.
struct MemoryUse {
    double bytes = 0;  // asked by all lanes together
    double sectors = 0;
    double least_sectors = 0;  // that the same bytes would take if they lay side by side
    std::optional<double> lines;
    // Through the banks of the first-level cache, which lie as those of shared memory.
    std::optional<double> bank_passes;
    double passes = 0;  // through the banks of shared memory
    double least_passes = 0;
    // Of the sectors read, by the size of a first-level cache that one core's groups share; absent:
    // they pass that cache by.
    std::optional<Reuse> core;
    // Of the sectors read, by the size of a second-level cache that the whole device shares.
    std::optional<Reuse> device;
    // Of the sectors written: they were still to be written back to DRAM, which costs no more.
    std::optional<Reuse> written;
    // Sectors of a store that the warp's store shortly before wrote, too. Absent: not told.
    std::optional<double> merged;
    // Of a request that reads: KiB that it lies in; and of a group's requests together, per warp.
    // Absent: not told.
    std::optional<double> places, group_places;
    // Atomic operations: lanes of a request at one address, and which part of the requests goes to
    // the sector that has most of them. Absent: not told.
    std::optional<double> same_address, hottest;
    // Of the requests: all their sectors are found; the farthest one decides when a load ends.
    // Absent: as many as of the sectors.
    std::optional<Reuse> core_requests, device_requests;

    bool operator==(const MemoryUse&) const = default;
};

// In which order the warps that run at once were taken to execute.
enum class MemoryOrder : std::uint8_t {
    round_robin,  // one instruction each in turn
    predicted,    // as the simulator issued them
};

std::string_view to_string(MemoryOrder order);

constexpr auto words(std::type_identity<MemoryOrder>) {
    return std::array{MemoryOrder::round_robin, MemoryOrder::predicted};
}

// What the reuse depends on besides the kernel.
struct MemoryContext {
    int cores = 1;
    int concurrent_groups = 1;  // per core
    std::int64_t group_shared_bytes = 0;
    MemoryOrder order = MemoryOrder::round_robin;
    // Different ones that the device had referred to before the launch; 0: caches begin empty.
    std::int64_t earlier_bytes = 0;

    bool operator==(const MemoryContext&) const = default;
};

// Why this cannot be; the key with it. Absent: it can.
struct MemoryFault {
    std::string key;
    std::string reason;
};
std::optional<MemoryFault> fault_of(const MemoryUse& use);

}  // namespace occupipe
