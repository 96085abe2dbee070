// SPDX-License-Identifier: MIT
// What was measured on a device, and what others published of it for all the rest.
#pragma once

#include <string>
#include <vector>

#include "core/gpu_profile.h"

namespace occupipe {

struct CompletedProfile {
    GpuProfile profile;
    std::vector<std::string> measured;   // instructions that were measured
    std::vector<std::string> published;  // those, or parts of those, that were not
};

// Whether none of its instructions was measured.
bool is_published(const GpuProfile& profile);

// All that `measured` determines stays as it is. Instructions that it lacks, λ or Λ that it only
// bounds or has not, scopes that it leaves open, memory levels, limits, overheads and AutoMatch's
// numbers come from `published`, and keep their source. Throws InputError where the two are of
// different devices: cores, warp size, compute capability.
CompletedProfile complete_profile(const GpuProfile& measured, const GpuProfile& published);

}  // namespace occupipe
