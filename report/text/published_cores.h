// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "core/gpu_profile.h"
#include "core/measurement.h"

namespace occupipe::report {

// Markdown: the profile's λ and Λ beside published ones for the CPU core that the file was measured
// on; empty when the file is not from a CPU or the core is not in our table.
std::string beside_published(const MeasurementFile& file, const GpuProfile& profile);

}  // namespace occupipe::report
