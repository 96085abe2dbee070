// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "core/gpu_profile.h"

namespace occupipe::cli {

inline constexpr const char* what_if_help =
    "Change the GPU before predicting: OP.cpi=N, OP.latency=N (core cycles), "
    "SUBSYSTEM.contention=N,\n"
    "issue.limit=N|none, issue.schedulers=N, cores=N, clock_hz=N. May be given several times";

// Applies one --set. Throws InputError naming what is wrong with it.
void apply_what_if(const std::string& setting, GpuProfile& profile);

}  // namespace occupipe::cli
