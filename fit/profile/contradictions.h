// SPDX-License-Identifier: MIT
// Input that contradicts itself: the same file twice, runs that disagree, units that change.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/measurement.h"

namespace occupipe {

// Throws InputError where two files hold the same measurements: they would count twice.
void refuse_duplicates(std::span<const MeasurementFile> files);

// "fma.f32: a.json and b.json disagree by 12 % (median of 33 places)", and likewise for repetitions
// of one place that differ by a factor no scatter explains, and for event times shorter than the
// cycles that passed meanwhile. Empty when nothing contradicts anything.
std::vector<std::string> contradictions(std::span<const MeasurementFile> files);

}  // namespace occupipe
