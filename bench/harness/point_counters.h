// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>

#include "bench/kernel/sweep.h"

namespace occupipe::bench {

// The counters of a point that are known before it is measured: its shape, and what the fitter
// wants to know of its instruction (docs/reference/file-formats/). `cores`: of the
// device.
std::map<std::string, double> point_counters(const PlannedPoint& point, int cores);

}  // namespace occupipe::bench
