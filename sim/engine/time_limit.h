// SPDX-License-Identifier: MIT
#pragma once

#include "sim/engine/run_progress.h"

namespace occupipe {

// What a command without --limit spends on one simulation [s].
inline constexpr double default_limit_seconds = 60;

// Ends a simulation with LimitReached once so many seconds have passed since this call.
Checkpoint time_limit(double seconds = default_limit_seconds);

}  // namespace occupipe
