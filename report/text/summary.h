// SPDX-License-Identifier: MIT
// What `characterize` writes and prints at its end.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/device/self_check.h"
#include "core/gpu_profile.h"
#include "core/measurement.h"

namespace occupipe::report {

struct Summary {
    std::string text;  // Markdown: device, table, what published figures say
    std::string
        not_measured;  // Markdown: a line per instruction that was left out, with the reason
    std::size_t left_out = 0;  // how many those are
};

// `table` and `check` are the rendered λ/Λ table and the comparison of the profile with its own
// measurements.
Summary summarised(const MeasurementFile& file, const GpuProfile& profile, const std::string& table,
                   const std::string& check);

// The last lines on a terminal: what was found, where it is and what to do next.
// `program` is how the program can be called from here.
std::string closing_lines(const GpuProfile& profile, const analysis::SelfCheck& check,
                          std::size_t left_out, const std::string& folder,
                          const std::string& program);

}  // namespace occupipe::report
