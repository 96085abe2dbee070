// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <span>

namespace occupipe::sim {

inline constexpr double steady_enough = 0.01;  // relative error of a time that is extrapolated
inline constexpr double safety = 3;            // of the bound over the error that was observed
inline constexpr double least_error = 1e-4;    // what is extrapolated is never called exact

// How far a run had come, and when.
struct RunPoint {
    double work = 0;  // warp-instructions
    double time = 0;  // [cycles or ticks]
};

struct SteadyRate {
    double time_each = 0;  // per warp-instruction
    double standard_error = 0;
    // Of the line with that slope through the ends of the batches: where it ends, and how far the
    // run is from it (root mean square).
    double time_at_end = 0;
    double scatter = 0;
};

// Of a run's beginning, without its first quarter. The standard error is that of batch means, for
// which successive times need not be independent (A. M. Law, Simulation Modeling and Analysis, 5th
// ed., section 9.5.3). `points` ascend. Nothing where a batch has less work than `least`.
std::optional<SteadyRate> steady_rate(std::span<const RunPoint> points, double least);

// When the run had come so far: between its points on a straight line.
double time_at(std::span<const RunPoint> points, double work);

}  // namespace occupipe::sim
