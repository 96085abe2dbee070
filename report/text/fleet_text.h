// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "analysis/device/fleet.h"

namespace occupipe::report {

// A table of the outliers of each model, with the evidence.
std::string to_text(const analysis::Fleet& fleet, const analysis::FleetOptions& options);
nlohmann::ordered_json to_json(const analysis::Fleet& fleet, const analysis::FleetOptions& options);

}  // namespace occupipe::report
