// SPDX-License-Identifier: MIT
// One profile from those of several machines of the same model, with the spread between them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/gpu_profile.h"

namespace occupipe {

struct NamedProfile {
    std::string path;
    std::string content_hash;
    GpuProfile profile;
};

struct MergedProfile {
    GpuProfile profile;
    // Bounds that the merged values contradict, by key and file; also in the profile's provenance.
    std::vector<std::string> contradictions;
};

// Each field as core/profile_fields.h says: quantities are pooled (pool.h), a note gives their
// range. Throws InputError when the profiles are of different devices (name, cores, warp size,
// schedulers), and when two are the same or made from the same file: that machine would count
// twice.
MergedProfile merge_profiles(std::span<const NamedProfile> profiles);

}  // namespace occupipe
