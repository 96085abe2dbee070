// SPDX-License-Identifier: MIT
// A measured point on its way from the sampler to the journal: numbers, until journal.h writes
// them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/harness/stopping.h"

namespace occupipe::bench {

// One repetition as Google Benchmark counts and times it.
struct Repetition {
    // Google Benchmark's own numbers.
    std::int64_t family_index = 0;
    std::int64_t per_family_instance_index = 0;
    std::int64_t repetitions = 1;
    std::int64_t repetition_index = 0;
    std::int64_t threads = 1;
    std::int64_t iterations = 1;

    std::optional<std::string> error;  // why it failed
    double real_time = 0;              // per iteration [time_unit]
    double cpu_time = 0;
    std::string time_unit;
    std::map<std::string, double>
        counters;       // "cycles", "warps", … (docs/reference/file-formats/); finite
    std::string label;  // the receipt's hash; empty = none
};

// What only all repetitions of a point together tell.
struct PointStatistics {
    struct Spread {
        double median = 0;
        double first_quartile = 0;
        double third_quartile = 0;
    };

    std::optional<double> relative_standard_error;  // of one repetition there is none
    bool target_met = false;                        // false: repetitions or time ran out
    double target_relative_error = 0;
    // Of real_time, cpu_time and those of the counters cycles and clock_hz that all have.
    std::map<std::string, Spread> spreads;
};

struct FinishedPoint {
    std::string name;
    std::vector<Repetition> repetitions;        // all of them: one far from the others stays
    std::optional<PointStatistics> statistics;  // absent where a repetition failed
};

// Of cycles, else of real time. Absent where a repetition failed, or there is none.
std::optional<PointStatistics> statistics_of(const std::vector<Repetition>& repetitions,
                                             const StoppingRule& rule);

// The point's rows in a measurement file, a JSON object each, as Google Benchmark's JSON reporter
// writes them: one per repetition with `relative_standard_error` and `target_met`, and behind
// several an aggregate with median and quartiles.
std::vector<std::string> row_texts(const FinishedPoint& point);

}  // namespace occupipe::bench
