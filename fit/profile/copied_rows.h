// SPDX-License-Identifier: MIT
// Measurements that are in the input more than once, and would count as often.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/measurement.h"

namespace occupipe {

// Throws InputError where two files hold the same measurements, equal in all counters, unless their
// contexts say that they are of different runs (another date, host, driver or version).
void refuse_duplicates(std::span<const MeasurementFile> files);

// A sentence each: files that are all in another one; those of different runs that are equal to the
// last digit; and a block of rows that repeats earlier ones of its own file, where repetitions of a
// place differ so often that chance explains it in fewer than one of a million files.
std::vector<std::string> copies_in(std::span<const MeasurementFile> files);

}  // namespace occupipe
