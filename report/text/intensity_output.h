// SPDX-License-Identifier: MIT
// The intensity sweep as a table and as JSON, and its picture.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "analysis/roofline/intensity_sweep.h"
#include "plot/figure.h"

namespace occupipe::report {

// A line per point, then the mean error of each operation.
std::string to_text(const analysis::IntensitySweep& sweep);
nlohmann::ordered_json to_json(const analysis::IntensitySweep& sweep);

// Measured points over the rooflines of the profile, an operation each. There are points.
plot::Picture intensity_picture(const analysis::IntensitySweep& sweep, const GpuProfile& profile);

}  // namespace occupipe::report
