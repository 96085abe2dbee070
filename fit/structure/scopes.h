// SPDX-License-Identifier: MIT
// What belongs to the core as a whole: its issue limit, the number of its schedulers, and whether a
// subsystem is one for the core or one per scheduler.
#pragma once

#include "fit/profile/build_profile.h"

namespace occupipe {

// IL from mixes, else from instructions whose curves show the schedulers' issue ports.
void set_issue_limit(FitOutcome& out);

// The number of schedulers: what recorded placements show (docs/file-formats.md,
// busiest_scheduler_warps), else the staircase period that most instructions show. A subsystem has
// a copy per scheduler when most of its instructions say so; those that do not are listed.
void set_scopes(FitOutcome& out);

}  // namespace occupipe
