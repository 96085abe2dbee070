// SPDX-License-Identifier: MIT
// A profile made ready for one kernel: with what the user changes, and with entries for ops that it
// calls otherwise.
#pragma once

#include <string>
#include <vector>

#include "core/gpu_profile.h"
#include "core/kernel.h"

namespace occupipe::analysis {

// As `predict` takes them.
struct ProfileChanges {
    std::vector<std::string> uses;      // --use
    std::vector<std::string> what_ifs;  // --set
    std::vector<std::string> classes;   // --assume-latency
};

struct ProfileForKernel {
    GpuProfile profile;
    GpuProfile offered;  // before anything stood in: for require_timings()
    // Assumptions, a sentence each: those that the changes asked for, and those that nobody did.
    std::vector<std::string> asked, unasked;
};

// Throws InputError where a change is impossible. An op may still have no entry: ask
// require_timings() once memory is priced.
ProfileForKernel profile_for_kernel(const Kernel& kernel, GpuProfile profile,
                                    const ProfileChanges& changes);

}  // namespace occupipe::analysis
