// SPDX-License-Identifier: MIT
#include "analysis/measured/fit.h"

#include <algorithm>

#include "analysis/measured/issue_choice.h"

namespace occupipe::analysis {

FitOutcome fit(std::span<const MeasurementFile> files, const FitOptions& options,
               std::span<const GpuProfile> decided) {
    FitOutcome out = fit_measurements(files, options);
    const bool chosen = std::ranges::any_of(
        decided, [&](const GpuProfile& one) { return take_issue_choice(one, files, out.profile); });
    if (!chosen) apply_issue_choice(out.profile, files, out.assumed_scopes);
    return out;
}

}  // namespace occupipe::analysis
