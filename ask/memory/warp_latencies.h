// SPDX-License-Identifier: MIT
// Λ of a load that several levels answer, warp by warp.
#pragma once

#include <map>
#include <string>

#include "ask/memory_view.h"
#include "core/gpu_profile.h"
#include "core/kernel.h"

namespace occupipe::analysis {

// Between two barriers a group takes as long as its slowest warp, and one whose warps execute a
// load once ends with the slowest: there the mean Λ of all executions is too little. The warps of a
// group that run one program are divided into equal parts, eight at most, each with a program in
// which such a load has the Λ of a part of its executions, from the fastest to the slowest; the
// mean over them stays. A load in a loop without a barrier keeps its mean, which its warps' sums
// come near to. `by_op`: of the profile's ops. The profile gets the ops of the new programs.
void vary_latencies(Kernel& kernel, GpuProfile& profile,
                    const std::map<std::string, LatencyParts>& by_op, int group_warps);

}  // namespace occupipe::analysis
