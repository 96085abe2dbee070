// SPDX-License-Identifier: MIT
// What a group waits for its place on a core.
#pragma once

#include "core/kernel.h"
#include "core/launch.h"

namespace occupipe::analysis {

// Whether groups of the launch begin where others have ended.
bool groups_take_turns(const Launch& launch, int cores);

// The kernel with an instruction `group_start` that all of a group's warps execute first and wait
// for: until the stores of the group before it have arrived, and until the device has begun the
// next one. Simulations take what the very first groups of a launch wait off again.
Kernel with_group_start(Kernel kernel);

}  // namespace occupipe::analysis
