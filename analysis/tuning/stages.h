// SPDX-License-Identifier: MIT
// Configurations in two stages: which one to predict exactly next, and what coarse predictions tell
// of those that are left.
//   while (const auto next = next_exact(rows, taken)) …
//   estimate_coarse(rows);
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/tuning/predictor.h"

namespace occupipe::analysis {

struct TunedConfiguration : ConfigurationPrediction {
    std::uint64_t number = 0;    // configuration_of(space, number)
    Stage stage = Stage::exact;  // the last one that it went through
    std::string coarse_limiter;  // of the coarse prediction; empty: there is none, or it names none
    // Of a row that stays coarse: the coarse time in the scale of exact ones, seconds.
    std::optional<double> estimated;
    std::optional<double> spent;  // of the budget when it was done, seconds; absent: there is none
};

// Predicted by the first model, else estimated; absent: refused.
inline std::optional<double> time_of(const TunedConfiguration& row) {
    return row.predicted.front() ? row.predicted.front() : row.estimated;
}

// Exact over coarse times, of configurations that have both.
struct CoarseScale {
    struct Part {
        std::size_t count = 0;
        double log_factor = 0;          // mean of the logarithms
        std::optional<double> scatter;  // their standard deviation; absent: fewer than two
    };
    Part all;
    std::map<std::string, Part> by_limiter;  // of the coarse prediction

    // Of the limiter where three configurations or more tell of it, else of all.
    const Part& of(const std::string& limiter) const;
};
CoarseScale coarse_scale(std::span<const TunedConfiguration> rows);

// The row to predict exactly next, of those that are not yet and not `taken`; absent: none is left.
// By turns the one that may be the shortest, by the lower end of what its coarse time tells, and
// the one of which least is known: whose coarse time is the furthest from those of all exact and
// taken rows with its limiter. Those without a coarse time come last.
std::optional<std::size_t> next_exact(std::span<const TunedConfiguration> rows,
                                      const std::vector<bool>& taken);

// Sets `estimated` and `interval` of the rows that stay coarse: the coarse time times the scale;
// with the scatter of the scale and the usual width of the exact intervals.
void estimate_coarse(std::span<TunedConfiguration> rows);

}  // namespace occupipe::analysis
