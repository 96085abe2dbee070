// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "core/kernel.h"
#include "sim/observers/timeline.h"

namespace occupipe::sim {

// The recorded part of a run in Chrome's trace event format, which Perfetto also reads: one track
// per warp and result that it has in flight, and one per subsystem. A trace's microsecond is a core
// cycle. Where an instruction of `kernel`, which was run, says its line of source code, events have
// it behind their name and as an argument.
std::string chrome_trace(const TimelineView& view, const Kernel& kernel = {});

}  // namespace occupipe::sim
