// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "core/gpu_profile.h"
#include "core/kernel.h"

namespace occupipe::analysis {

// A prediction is no better than the numbers that it uses: a sentence for each λ, Λ and h of the
// kernel's instructions that the profile's measurements did not determine. Every op has to be in
// the profile.
std::vector<std::string> weak_values(const Kernel& kernel, const GpuProfile& profile);

}  // namespace occupipe::analysis
