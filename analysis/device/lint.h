// SPDX-License-Identifier: MIT
// What is allowed in a file but probably unintended.
#pragma once

#include <string>
#include <vector>

#include "core/gpu_profile.h"
#include "core/kernel.h"
#include "core/measurement.h"

namespace occupipe::analysis {

// One line each: "KEY: what is odd about it".
std::vector<std::string> oddities(const GpuProfile& profile);
std::vector<std::string> oddities(const Kernel& kernel);
std::vector<std::string> oddities(const MeasurementFile& file);

}  // namespace occupipe::analysis
