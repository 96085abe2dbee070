// SPDX-License-Identifier: MIT
// Counts of NVIDIA's profilers as kernel parameters of the quantitative roofline.
//   parameters_from_profiler(read_text_file("sgemm.csv"), "sgemm.csv").kernels   one per kernel
//   ncu_command("./app")   the command that collects what is needed
#pragma once

#include <string>
#include <vector>

#include "core/kernel_parameters.h"

namespace occupipe::analysis {

struct ProfiledKernels {
    std::vector<KernelParameters> kernels;  // with the counts that the file has
    std::vector<std::string> left_out;      // metrics that are no numbers: file, line, metric, why
    std::vector<std::string> notes;         // what the means hide: a sentence each
    // Empty where every kernel has what the roofline needs; else what the first one lacks, and the
    // option that collects all that is missing.
    std::string lacking;
};

// From `nvprof --csv --metrics …` (a line per metric, or per launch with --print-gpu-trace, with
// and without a line of units) or `ncu --csv` (a line per metric, or per launch with --page raw).
// Launches of one kernel on one device are one entry, their mean; entries in the file's order.
// Throws InputError where it is no such file.
ProfiledKernels parameters_from_profiler(const std::string& text, const std::string& file_name);

// Whether the text looks like a profiler's CSV, whatever its faults.
bool is_profiler_csv(const std::string& text);

std::string ncu_command(const std::string& program);
std::string nvprof_command(const std::string& program);

}  // namespace occupipe::analysis
