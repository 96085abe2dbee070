// SPDX-License-Identifier: MIT
#include "ask/instruction_fetch.h"

#include <fmt/format.h>

#include <algorithm>

namespace occupipe::analysis {

Notes limit_by_fetch(const Kernel& kernel, GpuProfile& profile) {
    constexpr double instruction_bytes = 16;
    constexpr double least_share = 0.05;  // of the instructions
    const InstructionCache& cache = profile.instruction_cache;
    if (kernel.code.empty() || !cache.bytes || !kernel.launch) return {};
    const Launch& launch = *kernel.launch;
    if (launch.groups_per_core(profile.cores) <= launch.concurrent_groups) return {};
    const double beyond = share_beyond(kernel.code, *cache.bytes);
    if (beyond < least_share) return {};
    const std::string what =
        fmt::format("{} KiB of machine code are executed again and again, {:.0f} KiB stay at hand",
                    kernel.code.back().bytes / 1024, *cache.bytes / 1024);
    if (!cache.bytes_per_cycle)
        return {{Note::Kind::fetch,
                 what + "; what it costs to fetch the rest is not known of this GPU"}};
    const double limit = *cache.bytes_per_cycle / (beyond * instruction_bytes);
    // The model gives each scheduler its own part of the limit.
    const int schedulers = profile.issue.schedulers;
    const double given = limit * schedulers / std::min(schedulers, launch.warps());
    if (given >= profile.issue.limit.value_or(schedulers)) return {};
    profile.issue.limit = given;
    profile.issue.limit_std_error.reset();
    return {{Note::Kind::fetch,
             fmt::format("{}: at most {:.2f} warp-instructions a cycle and core", what, limit)}};
}

}  // namespace occupipe::analysis
