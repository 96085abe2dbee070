// SPDX-License-Identifier: MIT
#pragma once

#include "core/measurement.h"

namespace occupipe {

inline constexpr const char* dependent_counter = "dependent";

// Whether an instruction waits for the one before: by the row's counter, else by its name. A load
// of a floating-point number never gives the next address; what its chain waits for is the addition
// that takes the number up.
bool waits_for_result(const MeasurementRow& row);

}  // namespace occupipe
