// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "core/gpu_profile.h"
#include "core/measurement.h"

namespace occupipe::report {

// Markdown: how well a fresh profile predicts, through the Pipeline simulation, what it was fitted
// to (its instructions) and what it was not (the mixes' times; of mixes the fit takes only which
// subsystems there are). Compared are cycles per instruction as slopes over depth, so that the
// fixed cost of a launch, which the model leaves out, does not enter.
std::string self_check(const MeasurementFile& file, const GpuProfile& profile);

}  // namespace occupipe::report
