// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "core/gpu_profile.h"

namespace occupipe::report {

// How the profile was measured ("cuda", "opencl"); empty where it does not say.
std::string backend_of(const GpuProfile& profile);

// For every two profiles of one device by different backends: how many of the instructions that
// both have agree in λ within 3 %, and by how much the others do not. Values that the data do not
// determine are not compared. Empty when there is no such pair.
std::string backend_agreement(const std::vector<GpuProfile>& profiles);

}  // namespace occupipe::report
