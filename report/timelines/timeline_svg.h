// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "sim/observers/timeline.h"

namespace occupipe::report {

// Lanes per subsystem, as in the analysis paper's Figures 8 and 9: an instruction occupies its
// pipeline for λ (solid) and leaves it after Λ (pale); arrows are dependences that had to wait.
// At most 2,400 pixels wide: beyond 600 cycles the rest is cut off, and the picture says so.
std::string timeline_svg(const sim::TimelineView& view);

}  // namespace occupipe::report
