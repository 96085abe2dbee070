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

// Each parameter is the random-effects mean over the machines that determine it (R. DerSimonian
// and N. Laird, "Meta-analysis in clinical trials", 1986): weights 1/(standard error² + variance
// between machines); its standard error contains both, and a note gives the range. Bounds that no
// machine improves on become the tightest one. Throws InputError when the profiles are of different
// devices (name, cores, warp size).
GpuProfile merge_profiles(std::span<const NamedProfile> profiles);

struct Pooled {
    Estimate estimate;
    double between = 0;  // standard deviation between machines, beyond their own errors
    double lowest = 0;
    double highest = 0;
    std::size_t machines = 0;  // that determine the parameter
};

// `estimates` is not empty.
Pooled pool(std::span<const Estimate> estimates);

}  // namespace occupipe
