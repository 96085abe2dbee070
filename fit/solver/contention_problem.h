// SPDX-License-Identifier: MIT
// Throughput against occupancy where the latency grows, as a least-squares problem.
#pragma once

#include <span>
#include <vector>

#include "fit/solver/least_squares.h"

namespace occupipe {

struct OccupancyPoint {
    double warps = 0;       // resident on one core
    double throughput = 0;  // any unit; B comes out in the same
};

// log(B), log(Λ0·B), h·B and q.
enum ContentionParameter : std::size_t {
    log_saturated,
    log_unloaded,
    growth,
    knee,
    contention_parameter_count
};

// X = B·w / max(Λ0·B + h·B·w, w): the two bounds of the law over a common numerator.
double contention_throughput(std::span<const double> parameters, double warps);

// log(law / measured) by point. `points` must outlive it.
ResidualsFunction contention_residuals(std::span<const OccupancyPoint> points);

}  // namespace occupipe
