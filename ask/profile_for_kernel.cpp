// SPDX-License-Identifier: MIT
#include "ask/profile_for_kernel.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "ask/assumed_latency.h"
#include "ask/stand_ins.h"
#include "ask/what_if.h"

namespace occupipe::analysis {

ProfileForKernel profile_for_kernel(const Kernel& kernel, GpuProfile profile,
                                    const ProfileChanges& changes) {
    ProfileForKernel ready;
    ready.asked = apply_uses(changes.uses, kernel, profile);
    std::ranges::move(apply_what_ifs(changes.what_ifs, profile), std::back_inserter(ready.asked));
    validate(profile);
    ready.offered = profile;
    ready.unasked = assumed_in_profile(kernel, profile);
    std::ranges::move(apply_stand_ins(kernel, profile), std::back_inserter(ready.unasked));
    std::ranges::move(assume_latencies(changes.classes, kernel, profile),
                      std::back_inserter(ready.asked));
    ready.profile = std::move(profile);
    return ready;
}

}  // namespace occupipe::analysis
