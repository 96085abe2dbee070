// SPDX-License-Identifier: MIT
// What belongs to the core as a whole: its issue limit, the number of its schedulers, and whether a
// subsystem is one for the core or one per scheduler.
#pragma once

#include "fit/profile/build_profile.h"

namespace occupipe {

// IL from mixes, else from instructions whose curves show the schedulers' issue ports.
void set_issue_limit(FitOutcome& out);

// Where a limit was found, λ per core of 1/IL within two standard errors of both is as much the
// issue limit's as the unit's: its doubts say so.
void note_values_at_issue_limit(FitOutcome& out);

// The number of schedulers: what recorded placements show (docs/reference/file-formats/,
// busiest_scheduler_warps), else the staircase period that most instructions show. A subsystem has
// the scope that two thirds of those of its instructions say whose curves could tell; the others
// are listed. Where none could, or they disagree, the scope stays absent, and a note says so.
void set_scopes(FitOutcome& out);

}  // namespace occupipe
