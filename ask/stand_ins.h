// SPDX-License-Identifier: MIT
// Kernels and profiles may name instructions differently: which entry may replace which without
// being asked, and what the prediction says about it.
//
//   apply_stand_ins(saxpy, profile)   → {"ld.global.s32 uses the numbers of ld.global.u32: the same
//                                         machine instruction"}
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/gpu_profile.h"
#include "core/kernel.h"

namespace occupipe::analysis {

// Gives the profile an entry for each op of the kernel that it lacks and that a rule of the table
// in stand_ins.cpp allows to take from another entry, one with both λ and Λ before one with a
// bound. Returns one sentence per op, for the prediction's assumptions.
std::vector<std::string> apply_stand_ins(const Kernel& kernel, GpuProfile& profile);

// One sentence per op of the kernel whose entry the profile's author marked `source: assumed`, with
// its reference, and per subsystem that its ops use and whose scope no measurement showed: ask
// before apply_stand_ins(), whose entries speak for themselves.
std::vector<std::string> assumed_in_profile(const Kernel& kernel, const GpuProfile& profile);

// One sentence per subsystem of measured instructions whose scope no measurement showed.
std::vector<std::string> assumed_scopes(const GpuProfile& profile);

// Entries that may stand in for an op of this name because they are the same machine instruction,
// best first; not the op itself.
std::vector<std::string> same_instructions(std::string_view op);

}  // namespace occupipe::analysis
