// SPDX-License-Identifier: MIT
// From measurement files to the whole profile: what the curves say (fit/profile/build_profile.h),
// and what only simulations of the mixes tell (issue_choice.h).
#pragma once

#include <span>

#include "core/gpu_profile.h"
#include "core/measurement.h"
#include "fit/profile/build_profile.h"

namespace occupipe::analysis {

// What one of `decided` has already chosen from these files is not simulated again. Throws as
// fit_measurements() does.
FitOutcome fit(std::span<const MeasurementFile> files, const FitOptions& options = {},
               std::span<const GpuProfile> decided = {});

}  // namespace occupipe::analysis
