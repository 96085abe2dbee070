// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>

#include "core/gpu_profile.h"

namespace occupipe {

// Gives a subsystem of the profile another scope. λ of one with a copy per scheduler is the copy's,
// so that those of its instructions become what they are in the new scope.
void set_scope(GpuProfile& profile, std::string_view subsystem, std::optional<Scope> scope);

// λ of one row, wherever it stands, times a factor.
void scale_cpi(InstructionTiming& timing, double factor);

}  // namespace occupipe
