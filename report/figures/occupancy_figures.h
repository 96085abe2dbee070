// SPDX-License-Identifier: MIT
// Throughput against instructions in flight: occupancy rooflines, and the effect of contention.
#pragma once

#include <vector>

#include "fit/profile/build_profile.h"
#include "plot/figure.h"

namespace occupipe::report {

// min(M/Λ, 1/λ) of several instructions with their measured points; all fitted.
plot::Picture occupancy_picture(const std::vector<const SubjectReport*>& subjects);

// Of one fitted instruction: measured, and as it would be if latency did not grow; where it does,
// with that.
plot::Picture contention_picture(const SubjectReport& subject);

}  // namespace occupipe::report
