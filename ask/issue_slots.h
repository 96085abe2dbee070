// SPDX-License-Identifier: MIT
// Instructions that take more than one issue slot (docs/background/machine-code.md).
#pragma once

#include "core/gpu_profile.h"
#include "core/kernel.h"

namespace occupipe::analysis {

bool takes_further_slots(const GpuProfile& profile);

// Behind each instruction whose subsystem has `issue_slots` of n, n − 1 that take a slot each.
Kernel with_issue_slots(Kernel kernel, const GpuProfile& profile);

}  // namespace occupipe::analysis
