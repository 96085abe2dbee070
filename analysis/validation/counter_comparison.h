// SPDX-License-Identifier: MIT
// A profiler's counts of a kernel beside those of its executed machine code.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/profilers/ncu_report.h"
#include "analysis/validation/validation.h"

namespace occupipe::analysis {

// One count of the kernel's launch; absent: not told.
struct CounterRow {
    std::string kernel;
    std::string what;  // "bytes from DRAM"
    std::optional<double> ours;
    std::optional<double> profiled;
};

// Warp-instructions, sectors of global loads and stores, and what goes to and from DRAM at the
// kernel's own launch (levels as predictions have them; no bytes where the profile does not tell
// the size of the second level), beside the first launch of that name among `profiled`. Empty where
// none is of it, or `ready` tells nothing of memory.
std::vector<CounterRow> compare_counters(const ReadyKernel& ready, const GpuProfile& profile,
                                         const std::vector<NcuKernel>& profiled);

}  // namespace occupipe::analysis
