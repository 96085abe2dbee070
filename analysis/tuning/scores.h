// SPDX-License-Identifier: MIT
// How well predictions price and rank what was measured.
//   Scores of = scores({{.measured = 1e-3, .predicted = 1.1e-3}, …});
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace occupipe::analysis {

// Seconds, of one configuration; all above 0. The interval is of 95 %, where there is one.
struct ScoredTime {
    double measured = 0;
    double predicted = 0;
    std::optional<double> low = {}, high = {};
};

struct Scores {
    std::size_t count = 0;
    double mape = 0;                 // mean of |predicted / measured - 1|
    double factor = 0;               // geometric mean of predicted / measured
    double shape = 0;                // MAPE after division by that factor
    double spread = 0;               // longest over shortest measured time
    std::optional<double> spearman;  // rank correlation; absent: one side is constant
    // Measured time over the shortest measured one: of the configuration predicted best, and of the
    // best among the predicted best hundredth (at least one) and ten. Of equal predictions the
    // longest measured one is taken first.
    double regret = 0, regret_hundredth = 0, regret_ten = 0;
    double at_random = 0;              // the same of a configuration at random: the mean
    std::optional<double> coverage;    // share of intervals that hold the measured time
    std::optional<double> half_width;  // their median half-width over the predicted time
};

// At least one.
Scores scores(std::span<const ScoredTime> times);

}  // namespace occupipe::analysis
