// SPDX-License-Identifier: MIT
// The table of what may stand for what: which entry of a profile may replace one that it lacks
// without being asked for, how good that is, and what the prediction says about it.
//
//   apply_stand_ins(saxpy, profile)   → {"ld.global.s32 uses the numbers of ld.global.u32: the same
//                                         machine instruction"}
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ask/note.h"
#include "ask/question.h"
#include "core/gpu_profile.h"
#include "core/kernel.h"

namespace occupipe::analysis {

// Gives the profile an entry for each op of the kernel that it lacks and that the table allows to
// take from the same instruction or its published unit, one with both λ and Λ before one with a
// bound. Returns one sentence per op, for the prediction's assumptions.
std::vector<std::string> apply_stand_ins(const Kernel& kernel, GpuProfile& profile);

// A wide access to shared memory takes the numbers of its class as they are, or λ once for each
// pass of its width.
enum class Wide : bool { as_one, by_pass };

// The same for what is lacking then, but for these ops: one instruction of `offered` for its whole
// class (an integer operation as a multiplication, a store as a load), as the papers have one
// number for a class.
Notes take_classes(const Kernel& kernel, GpuProfile& profile, const GpuProfile& offered,
                   const std::set<std::string>& but, Wide wide);

// One sentence per reference of the kernel's ops whose entries the profile's author marked `source:
// assumed`, and per subsystem that its ops use and whose scope no measurement showed: ask
// before apply_stand_ins(), whose entries speak for themselves.
std::vector<std::string> assumed_in_profile(const Kernel& kernel, const GpuProfile& profile);

}  // namespace occupipe::analysis
