// SPDX-License-Identifier: MIT
// Classes of instructions that curves contradict: what only an assumption put together.
#pragma once

#include "fit/profile/build_profile.h"

namespace occupipe {

// A subsystem is one unit for the core or one per scheduler. Where curves of instructions that no
// mix put together show both clearly, those of the other scope get a subsystem of their own
// ("alu.scheduler" beside "alu"; "alu.core" where mixes hold copies together), and a note says so.
// Curves that show neither stay with what their law says, else with the more; where any evidence is
// doubtful (several numbers of schedulers, turns or issue ports instead of copies) nothing changes.
void split_classes(FitOutcome& out);

}  // namespace occupipe
