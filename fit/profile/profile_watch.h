// SPDX-License-Identifier: MIT
// Whether a device still is what its stored profile says: every number that both profiles know with
// an error, judged together, so that the chance of any false alarm in a whole report is bounded.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/gpu_profile.h"
#include "core/measurement.h"

namespace occupipe {

struct WatchOptions {
    // Chance that a report of an unchanged device has any number moved, if the errors hold: divided
    // by the numbers compared (Bonferroni), with Student's t for errors that are estimates.
    double false_alarm_rate = 0.01;
    // A change must exceed this as well.
    double relative = 0.01;
};

struct Watched {
    std::string name;  // "fma.f32 λ"
    Estimate baseline;
    Estimate now;
    double relative = 0;  // now / baseline - 1
    // Change over the standard error of the difference; absent for the clock and for facts.
    std::optional<double> standard_errors;
    double least_found = 0;  // the smallest relative change that would have been called moved
    bool moved = false;
};

struct WatchReport {
    std::vector<Watched> compared;  // moved ones first, the surest first; then as in the baseline
    std::vector<std::string> not_compared;   // "fma.f64 Λ: only in the baseline"
    std::vector<std::string> disturbances;   // of the run: doubts about what is said to have moved
    std::vector<std::string> circumstances;  // "driver: 535.54 -> 550.90"
    double false_alarm_rate = 0;
    double relative = 0;
    double needed_standard_errors = 0;

    std::size_t moved() const;
};

// `files`: what `now` was fitted to; they tell how much the clock wandered, and what disturbed the
// run.
WatchReport watch_profile(const GpuProfile& baseline, const GpuProfile& now,
                          std::span<const MeasurementFile> files, const WatchOptions& options);

// For people: what moved, what did not, what could not be compared.
std::string format_watch(const WatchReport& report, const std::string& baseline,
                         const std::string& device, bool everything);

}  // namespace occupipe
