// SPDX-License-Identifier: MIT
#include "analysis/roofline/executed_traffic.h"

#include <fmt/format.h>

#include "core/error.h"

namespace occupipe::analysis {

std::vector<std::string> set_traffic(KernelParameters& parameters, const Kernel& told,
                                     const GpuProfile& profile, const CacheSizes& asked) {
    constexpr double sector_bytes = 32, kib = 1024;
    const PricedMemory memory = memory_view(told, profile, asked);
    const LevelRow& last = cache_levels()[shared_cache()];
    if (!memory.sizes.contains(last.name))
        throw InputError(fmt::format(
            "the {}-level cache of {} is not known; give its size with --cache {}=BYTES", last.nth,
            profile.device.name, last.name));
    if (!told.launch || !dram_bytes_per_warp(memory))
        throw InputError(
            fmt::format("what kernel '{}' asks of the memory is not known", parameters.kernel));
    const double warps = static_cast<double>(told.launch->groups) * told.launch->group_warps;
    double read = 0, written = 0;
    for (const MemoryRow& row : memory.rows) {
        if (!row.dram_bytes) continue;
        (row.use.device ? read : written) += row.executions * warps * *row.dram_bytes;
    }
    parameters.dram_read_sectors = read / sector_bytes;
    parameters.dram_write_sectors = written / sector_bytes;
    parameters.origin = fmt::format("executed; memory behind caches of {}:", profile.device.name);
    for (const LevelRow& cache : cache_levels()) {
        const auto size = memory.sizes.find(cache.name);
        parameters.origin +=
            fmt::format("{} {} level ", &cache == &cache_levels()[0] ? "" : ",", cache.nth);
        parameters.origin +=
            size == memory.sizes.end()
                ? "none"
                : fmt::format("{:g} KiB ({})", size->second.bytes / kib, size->second.from);
    }
    return memory.said;
}

}  // namespace occupipe::analysis
