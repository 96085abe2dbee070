// SPDX-License-Identifier: MIT
// Cache levels from latency against working set: plateaus and the sizes between them, by
// change-point detection.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/estimate.h"
#include "core/measurement.h"

namespace occupipe {

struct WorkingSetPoint {
    double bytes = 0;
    double cycles = 0;          // per dependent access
    double relative_error = 0;  // standard error
};

struct CacheLevel {
    Estimate latency;        // of the plateau
    double first_bytes = 0;  // working sets that show it
    double last_bytes = 0;
    // The level's capacity lies between last_bytes and the next level's first_bytes; the share of
    // resampled curves (noise drawn anew) that put an edge there too. Absent for the last level.
    std::optional<double> edge_confidence;
};

struct WorkingSetFit {
    std::string subject;
    std::string reason;                   // why there is no result; empty when there is
    std::vector<WorkingSetPoint> points;  // ascending
    std::vector<CacheLevel> levels;

    bool ok() const { return reason.empty(); }
};

// Piecewise-constant log latency with the number of pieces chosen by a penalised cost (optimal
// partitioning: B. Jackson et al., "An algorithm for optimal partitioning of data on an interval",
// 2005; penalty of G. Schwarz' criterion). Pieces of fewer than three points are transitions
// between plateaus, not levels.
WorkingSetFit fit_working_set(const std::string& subject, std::vector<WorkingSetPoint> points);

// One fit per subject with such rows, in order of first appearance. Latency per access is the slope
// of the median cycles over depth where there are several depths, else cycles / depth, with the
// fewest instructions in flight that were measured.
std::vector<WorkingSetFit> fit_working_sets(std::span<const MeasurementFile> files);

}  // namespace occupipe
