// SPDX-License-Identifier: MIT
// Counts of NVIDIA's profilers as kernel parameters of the quantitative roofline.
//   parameters_from_profiler(read_text_file("sgemm.csv"), "sgemm.csv")   one entry per kernel
//   ncu_command("./app")   the command that collects what is needed
#pragma once

#include <string>
#include <vector>

#include "core/kernel_parameters.h"

namespace occupipe::analysis {

// From `nvprof --csv --metrics …` (a line per metric, or per launch with --print-gpu-trace, with
// and without a line of units) or `ncu --csv` (a line per metric, or per launch with --page raw).
// Launches of one kernel on one device are one entry, their mean; entries in the file's order.
// Throws InputError: not such a file, or a metric that is needed is missing or not a number; names
// file, line, metric and the option that collects it.
std::vector<KernelParameters> parameters_from_profiler(const std::string& text,
                                                       const std::string& file_name);

// Whether the text looks like a profiler's CSV, whatever its faults.
bool is_profiler_csv(const std::string& text);

std::string ncu_command(const std::string& program);
std::string nvprof_command(const std::string& program);

}  // namespace occupipe::analysis
