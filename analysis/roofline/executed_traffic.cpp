// SPDX-License-Identifier: MIT
#include "analysis/roofline/executed_traffic.h"

#include <fmt/format.h>

#include "core/error.h"

namespace occupipe::analysis {

std::vector<std::string> set_traffic(KernelParameters& parameters, const Kernel& told,
                                     const GpuProfile& profile, const CacheSizes& asked) {
    constexpr double sector_bytes = 32, kib = 1024;
    const PricedMemory memory = memory_view(told, profile, asked);
    if (!memory.sizes.second)
        throw InputError(fmt::format(
            "the second-level cache of {} is not known; give its size with --cache l2=BYTES",
            profile.device.name));
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
    const auto size = [](const std::optional<double>& bytes, const std::string& from) {
        return bytes ? fmt::format("{:g} KiB ({})", *bytes / kib, from) : "none";
    };
    parameters.origin =
        fmt::format("executed; memory behind caches of {}: first level {}, second level {}",
                    profile.device.name, size(memory.sizes.first, memory.sizes.first_from),
                    size(memory.sizes.second, memory.sizes.second_from));
    return memory.said;
}

}  // namespace occupipe::analysis
