// SPDX-License-Identifier: MIT
#include "bench/cuda/driver/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "bench/cuda/driver/nvrtc.h"
#include "bench/cuda/prelude.h"
#include "core/error.h"

namespace occupipe::bench {
namespace {

using Attribute = cu::DeviceAttribute;

std::string architecture_name(int major, int minor) {
    switch (major) {
        case 5:
            return "Maxwell";
        case 6:
            return "Pascal";
        case 7:
            return minor < 5 ? "Volta" : "Turing";
        case 8:
            return minor < 9 ? "Ampere" : "Ada";
        case 9:
            return "Hopper";
        case 10:
        case 11:
        case 12:
            return "Blackwell";
        default:
            return fmt::format("compute capability {}.{}", major, minor);
    }
}

std::string compiler_version() {
    try {
        return nvrtc().version();
    } catch (const DeviceError&) {
        return "not installed";
    }
}

}  // namespace

CoreLimits core_limits(const Driver& driver, cu::Device device) {
    const auto attribute = [&](Attribute a) { return driver.device_attribute(device, a); };
    const int warp = attribute(Attribute::warp_size);
    CoreLimits limits;
    limits.warps = attribute(Attribute::max_threads_per_multiprocessor) / warp;
    limits.groups = attribute(Attribute::max_blocks_per_multiprocessor);
    limits.group_warps = attribute(Attribute::max_threads_per_block) / warp;
    limits.shared_bytes = attribute(Attribute::shared_bytes_per_multiprocessor);
    limits.group_shared_bytes = attribute(Attribute::shared_bytes_per_block_optin);
    limits.reserved_shared_bytes = attribute(Attribute::reserved_shared_bytes_per_block);
    return limits;
}

DeviceFacts cuda_facts(const Driver& driver, cu::Device device, int ordinal) {
    const auto attribute = [&](Attribute a) { return driver.device_attribute(device, a); };
    const CoreLimits limits = core_limits(driver, device);
    const int major = attribute(Attribute::compute_capability_major);
    const int minor = attribute(Attribute::compute_capability_minor);
    std::array<char, 256> name = {};
    driver.check(driver.device_get_name(name.data(), static_cast<int>(name.size()) - 1, device),
                 "cuDeviceGetName");
    std::size_t memory = 0;
    driver.check(driver.device_total_mem(&memory, device), "cuDeviceTotalMem");
    DeviceFacts facts;
    facts.id = fmt::format("cuda:{}", ordinal);
    facts.backend = "cuda";
    facts.name = name.data();
    facts.vendor = "NVIDIA";
    facts.architecture = architecture_name(major, minor);
    facts.compute_capability = fmt::format("{}.{}", major, minor);
    const std::string package = driver_package_version();
    facts.driver =
        fmt::format("CUDA {}{}{}", driver.version(), package.empty() ? "" : ", driver ", package);
    facts.cores = attribute(Attribute::multiprocessors);
    facts.warp_size = attribute(Attribute::warp_size);
    facts.checkpoints = true;
    if (const int khz = attribute(Attribute::clock_rate_khz); khz > 0)
        facts.nominal_clock_hz = khz * 1e3;
    facts.clock_source =
        "cycles: the core's own counter (clock64), last stop minus first start on each core, "
        "median over cores; clock: clock64 against the GPU's global timer";
    facts.limits.warps = limits.warps;
    facts.limits.groups = limits.groups;
    facts.limits.group_warps = limits.group_warps;
    facts.limits.registers = attribute(Attribute::registers_per_multiprocessor);
    facts.limits.shared_memory_bytes = limits.shared_bytes;
    facts.global_memory_bytes = static_cast<std::int64_t>(memory);
    facts.more["ecc"] = attribute(Attribute::ecc_enabled) ? "on" : "off";
    facts.more["l2_bytes"] = std::to_string(attribute(Attribute::l2_bytes));
    facts.more["memory_clock_hz"] =
        fmt::format("{:.0f}", attribute(Attribute::memory_clock_rate_khz) * 1e3);
    facts.more["memory_bus_bits"] = std::to_string(attribute(Attribute::memory_bus_width_bits));
    facts.more["nvrtc"] = compiler_version();
    return facts;
}

namespace {

TableSizes tables_for(std::int64_t l2_bytes, std::uint64_t beyond_caches) {
    TableSizes sizes;
    const auto cache = static_cast<std::size_t>(std::max<std::int64_t>(l2_bytes, 0));
    sizes.cache_bytes = cache;
    sizes.beyond_caches = beyond_caches;
    // A quarter of the second-level cache, so that it holds whatever part of it a core reaches; at
    // least a line for each warp of a core.
    constexpr std::size_t unknown = 256u << 10;
    constexpr std::size_t least = 8u << 10;
    sizes.second_level = cache > 0 ? std::bit_floor(std::max(cache / 4, least)) : unknown;
    return sizes;
}

}  // namespace

TableSizes cuda_tables(std::int64_t l2_bytes, std::int64_t memory_bytes) {
    // Word indices and the lower halves of addresses are 32 bits.
    constexpr std::uint64_t most = std::uint64_t{2} << 30;
    const auto memory = static_cast<std::uint64_t>(std::max<std::int64_t>(memory_bytes, 4 << 20));
    return tables_for(l2_bytes, std::min(std::bit_floor(memory / 4), most));
}

TableSizes carried_tables(std::int64_t l2_bytes) {
    constexpr std::uint64_t least = 128u << 20;
    const auto cache = static_cast<std::uint64_t>(std::max<std::int64_t>(l2_bytes, 0));
    return tables_for(l2_bytes, std::bit_ceil(std::max(least, 4 * cache)));
}

}  // namespace occupipe::bench
