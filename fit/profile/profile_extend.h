// SPDX-License-Identifier: MIT
// A profile with instructions that were measured later on the same device.
#pragma once

#include <string>
#include <vector>

#include "core/gpu_profile.h"

namespace occupipe {

struct ProfileExtension {
    GpuProfile profile;
    std::vector<std::string> added;  // instructions, in the order of `more`
    std::vector<std::string> notes;  // a sentence each: which subsystem an instruction went to
};

// Adds the instructions of `more` that `base` lacks, with their memory levels; all that `base` has
// stays as it is. An instruction joins the subsystem of those of its class (assumed_subsystem(),
// fit/structure/subsystems.h); λ follows that subsystem's scope. `measurement`, `hash`: the raw
// measurement, for the provenance. Throws InputError where the two are of different devices: name,
// cores, warp size, schedulers.
ProfileExtension extend_profile(const GpuProfile& base, const GpuProfile& more,
                                const std::string& measurement, const std::string& hash);

}  // namespace occupipe
