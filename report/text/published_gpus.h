// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "core/gpu_profile.h"

namespace occupipe::report {

// Markdown: the profile's λ beside what NVIDIA publishes as throughput of native instructions for
// the GPU's compute capability; empty when none is known for it, or for none of the instructions.
std::string beside_published_throughput(const GpuProfile& profile);

}  // namespace occupipe::report
