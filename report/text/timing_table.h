// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/gpu_profile.h"

namespace occupipe::report {

// λ and Λ of several GPUs side by side.
struct TimingTable {
    struct Row {
        std::string instruction;
        std::vector<std::optional<InstructionTiming>> timings;  // one per device; λ per core
        // λ of one scheduler's copy, where every scheduler has its own
        std::vector<std::optional<double>> per_scheduler;
    };
    std::vector<DeviceIdentity> devices;
    std::vector<std::string> backends;  // one per device, as far as known
    std::vector<Row> rows;              // in order of first appearance
};

TimingTable timing_table(const std::vector<GpuProfile>& profiles);

enum class TableFormat { markdown, csv, latex, json };

// `errors` adds standard errors to the cells of Markdown and LaTeX; CSV and JSON always have them,
// and all digits.
std::string format_timing_table(const TimingTable& table, TableFormat format, bool errors);

}  // namespace occupipe::report
