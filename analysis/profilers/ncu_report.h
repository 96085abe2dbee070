// SPDX-License-Identifier: MIT
// Counts of NVIDIA Nsight Compute, from `ncu --csv` (one line per metric, also the page "details"
// with its labels) and `ncu --csv --page raw` (one line per kernel).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/measurement.h"

namespace occupipe::analysis {

// One profiled launch.
struct NcuKernel {
    std::string kernel;                     // its name
    std::string device;                     // its number; empty: not told
    std::string size;                       // grid and block: "(4096, 1, 1) x (256, 1, 1)"
    std::map<std::string, double> metrics;  // "smsp__inst_executed.sum", in base units (bytes, …)
    struct Unusable {
        int line = 0;
        std::string reason;  // "'n/a' is not a number", "the file has no unit for it"
    };
    std::map<std::string, Unusable> unusable;
};

// Launches in the file's order. Lines of the profiler's own messages before the header are passed
// over; metrics that are not numbers, or whose unit is not known or not there, are `unusable`.
// Numbers are English or German as the file's own numbers prove. Throws InputError naming file and
// line; also for a count such as "1.000" where none proves it.
std::vector<NcuKernel> parse_ncu_csv(const std::string& text, const std::string& file_name);

// A launch and the measured point that it ran.
struct NcuPoint {
    std::string subject;  // "fma.f32"
    MeasurementShape shape;
    NcuKernel kernel;
};

// The metric by its name without the unit's prefix ("inst_executed.sum" for
// "smsp__inst_executed.sum" and "sm__inst_executed.sum"); nullptr when there is none.
const double* find_metric(const NcuKernel& kernel, std::string_view name);

}  // namespace occupipe::analysis
