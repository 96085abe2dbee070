// SPDX-License-Identifier: MIT
// Costs outside instructions, each a line over a count (docs/background/fitting.md, "Lines"):
//     event time over kernel launches      slope: one launch
//     event time over groups of a launch   slope: one group, beyond the bend if there is one
//     cycles over iterations of a loop     slope: one iteration
// The intercept is the cost paid once.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/measurement.h"
#include "core/parameter_table.h"
#include "fit/curves/line_fit.h"

namespace occupipe {

struct OverheadFit {
    std::string subject;
    std::string over;  // the counter
    std::string unit;  // of y: "s" or "cycles"
    std::vector<LinePoint> points;
    int rows = 0;
    int rejected = 0;  // rows that could not be used
    LineFit line;
};

// One line per subject and counter, in order of first appearance.
std::vector<OverheadFit> fit_overheads(std::span<const MeasurementFile> files);

// The profile's numbers: of each kind the line with the smallest slope (launches that the host
// awaits cost more than launches in a queue); a bound if no slope is distinguishable from zero.
Overheads overheads_of(std::span<const OverheadFit> fits);

}  // namespace occupipe
