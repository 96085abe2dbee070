// SPDX-License-Identifier: MIT
// A profile in another tool's format. Nothing is invented: what the profile does not have, or has
// only as a bound, gets no line and is named.
//
//   const Exported file = export_accelsim(profile, {.units = 4});
//   file.text    // the file
//   file.notes   // what the format cannot say, and what was left out: a sentence each
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/gpu_profile.h"

namespace occupipe::analysis {

struct ExportOptions {
    // Execution units of each class on a core, where the format asks for them: absent = the
    // schedulers of the profile where a subsystem has one copy for each, else as few as its λ
    // needs.
    std::optional<int> units;
    // Of one class, "int", "sp", "dp", "sfu" or "tensor": counts in the place of `units`.
    std::map<std::string, int, std::less<>> units_of;
    // Core cycles of Λ that the simulator adds itself (operand collector, write-back).
    double pipeline_cycles = 0;
    std::string profile_name;  // for the head of the file
};

struct Exported {
    std::string text;
    std::vector<std::string> notes;
};

// Accel-Sim and GPGPU-Sim: gpgpusim.config and trace.config in one, an option a line.
Exported export_accelsim(const GpuProfile& profile, const ExportOptions& options);
// PPT-GPU: the Python dictionaries `uarch` and `units_latency`.
Exported export_ppt_gpu(const GpuProfile& profile, const ExportOptions& options);
// gem5's GPU model: options of its configuration scripts, one a line.
Exported export_gem5(const GpuProfile& profile, const ExportOptions& options);
// A machine model with the keys of OSACA's (YAML), and the same as a table (CSV).
Exported export_osaca(const GpuProfile& profile, const ExportOptions& options);
Exported export_osaca_csv(const GpuProfile& profile, const ExportOptions& options);

}  // namespace occupipe::analysis
