// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "sim/observers/timeline.h"

namespace occupipe::sim {

// The recorded part of a run in Chrome's trace event format, which Perfetto also reads: one track
// per warp and result that it has in flight, and one per subsystem. A trace's microsecond is a core
// cycle.
std::string chrome_trace(const TimelineView& view);

}  // namespace occupipe::sim
