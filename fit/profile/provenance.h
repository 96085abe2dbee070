// SPDX-License-Identifier: MIT
// What a fitted profile says about where its numbers come from.
#pragma once

#include <span>

#include "core/annotation.h"
#include "core/measurement.h"
#include "fit/profile/build_profile.h"
#include "fit/profile/device_facts.h"

namespace occupipe {

inline constexpr const char* model_warning = "from a model device, not hardware";

Annotation provenance(std::span<const MeasurementFile> files, const DeviceFacts& facts,
                      const FitOutcome& out);

}  // namespace occupipe
