// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "core/kernel.h"
#include "core/measurement.h"

namespace occupipe {

// The dependence graph that a measurement executes, so that a simulator or model can be set beside
// it: `chains` dependent chains of `depth` instructions, interleaved; for a mix, `depth`
// instructions per chain in periods of β of the first and one of the second, all dependent.
// Throws InputError when the depth is no multiple of a mix's period.
Kernel measured_kernel(std::string_view subject, const MeasurementShape& shape);

}  // namespace occupipe
