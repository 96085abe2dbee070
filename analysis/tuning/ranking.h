// SPDX-License-Identifier: MIT
// The order of predicted configurations, which of them to measure, and what measured ones tell of
// the others.
//   const Ranking ranking = ranked(tuned, runs.runs, 10);
//   tuned.rows[ranking.order.front()]
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/tuning/measured_runs.h"
#include "analysis/tuning/tune.h"

namespace occupipe::analysis {

// The one number that is fitted to measured times: measured over predicted, as a clock or a bias of
// the model common to all configurations makes it.
struct ClockFactor {
    std::size_t count = 0;                 // of configurations that are measured and predicted
    double factor = 1;                     // geometric mean
    std::optional<double> standard_error;  // of its logarithm; absent: one configuration
    // Standard deviation of the logarithms: what a factor does not explain. Absent: likewise.
    std::optional<double> scatter;
};

// Absent: none is measured and predicted.
std::optional<ClockFactor> clock_factor(const Tuned& tuned,
                                        std::span<const std::optional<double>> measured);

struct TunableEffect {
    std::string name;
    // Share of the variance of the logarithms of the predicted times that the tunable's value alone
    // explains (correlation ratio): 0 to 1. Absent: all times are equal.
    std::optional<double> importance;
    // By value, in the space's order: the shortest predicted time; absent: none has it.
    std::vector<std::optional<double>> best;
};

// Of tunables with more than one value.
std::vector<TunableEffect> effects(const TuningSpace& space, const Tuned& tuned);

struct Ranking {
    // Of tuned.rows, those with a time, shortest expected first: measured, else predicted times the
    // factor, where there is one. Configurations that are the same code and launch stand in the
    // order of their numbers.
    std::vector<std::size_t> order;
    std::vector<std::optional<double>> measured;  // by row, seconds
    std::vector<std::optional<double>> expected;  // by row, seconds; absent: refused
    std::optional<ClockFactor> clock;
    std::vector<std::size_t> top;  // to be measured, in the order of `order`
    // Of the top ones together: how much shorter than the best measured time the shortest is
    // expected to be, in seconds. Absent: nothing was measured, or the scatter is not known.
    std::optional<double> improvement;
};

// `measured`: may be empty. `top`: so many to be measured. They are the best expected of different
// code and launch that are not measured yet; each fourth place goes to the best of another limiter
// than those before have, since what a model gets wrong it gets wrong for a limiter.
Ranking ranked(const Tuned& tuned, std::span<const MeasuredRun> measured, std::size_t top);

}  // namespace occupipe::analysis
