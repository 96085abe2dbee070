// SPDX-License-Identifier: MIT
// Executed launches → the counts that profilers give: input of the quantitative roofline.
#pragma once

#include <vector>

#include "core/kernel_parameters.h"
#include "extract/run_plan.h"

namespace occupipe::extract {

// Per launch, the mean of the step's repetitions. By opcode (units.h): single precision without
// special functions, double, integer without the uniform datapath, memory and atomic operations;
// lanes whose guard held. Loads of constants are no loads here, as in profilers.
//
// What went to and from memory is not executed here. Every sector that the launch touched is
// counted once, read or written: what caches of unlimited size would let through, and the least
// that a cold cache can. The parameters' origin says so.
KernelParameters parameters_of(const LaunchResult& result);

// One entry per kernel of the plan, its launches together.
std::vector<KernelParameters> parameters_of(const std::vector<LaunchResult>& results);

}  // namespace occupipe::extract
