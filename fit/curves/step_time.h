// SPDX-License-Identifier: MIT
// Time of one step (an instruction of every chain of every warp), place by place and without any
// law: the slope of cycles over depth. What tables and lines are made of.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/parameter_table.h"
#include "fit/curves/curve.h"

namespace occupipe {

struct StepTime {
    PointPlace place;        // its depth has no meaning
    Estimate cycles;         // per step
    double intercept = 0;    // cycles at depth 0: starting, and what is not the loop
    double r_squared = 0;    // weighted; 1 for two depths
    std::size_t depths = 0;  // points on the line
    // Over the cores: slopes of the least, the quartiles and the greatest, where the rows say them.
    std::optional<double> least_core;
    std::optional<double> lower_quartile;
    std::optional<double> upper_quartile;
    std::optional<double> greatest_core;
    // At every depth most of what lies between the least and the greatest core lies between the
    // quartiles: cores are of two groups.
    bool two_groups = false;

    double in_flight() const {
        return static_cast<double>(place.shape.warps()) * place.shape.chains;
    }
};

// Weighted slope at every place that was measured at two depths or more and where time grows with
// depth. Standard errors account for the points' own and their distance from the line.
std::vector<StepTime> step_times(const Curve& curve);

// Those of `steps` that may say how fast a core can be. A fault of the measurement shortens all
// runs with one number of warps (they ended early, or had less to do), and no core does in less
// time what it needs longer for with fewer warps, or with twice as many in more than twice the
// time. So numbers of warps that a neighbour contradicts count only if two others, or one that no
// neighbour contradicts, reach as much to a tenth, by cycles per step or per instruction. All of
// them where none counts.
std::vector<StepTime> believable_steps(const std::vector<StepTime>& steps);

// The two latencies of a memory that one half of the cores is near to and the other far from.
struct TwoDistances {
    Estimate near;  // cycles per dependent access: lower and upper quartile over the cores
    Estimate far;
    std::string note;  // how far each half reaches
};

// From the place with the fewest instructions in flight, where each core waits for one memory
// access at a time. nullopt where the time does not leave the core, where cores do not differ by a
// tenth, and where they do without falling into two groups of some size.
std::optional<TwoDistances> two_distances(const Curve& curve);

// "212.1 to 338.9 cycles per step over the cores, …", where cores differ by more than 5 % with the
// fewest instructions in flight: they do not all lie equally far from a memory. It also says
// whether they are of two groups, where that can be told.
std::optional<std::string> spread_over_cores(const Curve& curve);

// A table of λ = step / M and Λ = step over an axis of the places: with M instructions in flight a
// step takes max(Λ, M·λ), so Λ is what a dependent instruction waits at this place, and λ what an
// instruction costs there. Places with one value on the axis are pooled (weighted mean, with their
// scatter in the error); places without one are left out. No rows when fewer than two values.
ParameterTable step_table(const Curve& curve, const std::string& over,
                          const std::function<std::optional<double>(const StepTime&)>& axis);

}  // namespace occupipe
