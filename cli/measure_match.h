// SPDX-License-Identifier: MIT
// `measure --match`: what AutoMatch asks of a device, into a measurement file.
#pragma once

#include <string>

#include "cli/measure_device.h"

namespace occupipe::cli {

// `device`: "cpu", the processor that this program runs on, or a part of it (bench::host_of);
// "opencl:P.D" or "cuda:N" (bench/match/device.h). False: interrupted, and can be gone on with.
// Throws InputError for other devices, NothingToRunOn where there is no such one.
bool measure_match(const std::string& device, const MeasureRequest& request);

// One line per point that would be measured.
void print_match_points(const std::string& device, bool quick);

}  // namespace occupipe::cli
