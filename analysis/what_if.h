// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "core/gpu_profile.h"
#include "core/kernel.h"

namespace occupipe::analysis {

inline constexpr const char* what_if_help =
    "Change the GPU before predicting: OP.cpi=N, OP.latency=N (core cycles),\n"
    "SUBSYSTEM.contention=N, issue.limit=N|none, issue.schedulers=N, cores=N, clock_hz=N;\n"
    "may be repeated";

inline constexpr const char* use_help =
    "Use the profile's numbers of INSTRUCTION for the kernel's OP; may be repeated";

// Applies one --use. An OP whose name says what it is (a store, a load, a barrier) stays one, any
// other becomes what INSTRUCTION is. Returns the assumption in words. Throws InputError that says
// what is wrong.
std::string apply_use(const std::string& setting, GpuProfile& profile);

// Throws InputError naming the kernel file, its line, every op that the profile lacks, and how to
// go on: --use settings with instructions of `offered`, the profile as it was read.
void require_timings(const GpuProfile& profile, const Kernel& kernel, const std::string& file,
                     const GpuProfile& offered);

// Applies one --set. Throws InputError naming what is wrong with it.
void apply_what_if(const std::string& setting, GpuProfile& profile);

}  // namespace occupipe::analysis
