// SPDX-License-Identifier: MIT
// A ranked search space: as text, as JSON, as the files that tuners read, and as a picture.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "analysis/tuning/ranking.h"
#include "analysis/tuning/space.h"
#include "analysis/tuning/tune.h"
#include "report/figures/plot_file.h"

namespace occupipe::report {

// What all of these are made of; each must live as long.
struct RankedSpace {
    const analysis::TuningSpace& space;
    const analysis::Tuned& tuned;
    const analysis::Ranking& ranking;
};

// The configurations to measure, or the best ten; what the tunables do; refusals with reasons.
std::string to_text(const RankedSpace& ranked);

nlohmann::ordered_json to_json(const RankedSpace& ranked);  // "occupipe-tune/1"

// T4 results of the FAIR auto-tuning format, and a cache file of Kernel Tuner, schema 1.1.0: the
// predicted times in milliseconds in place of measured ones. Configurations that the GPU refuses
// are marked as the tuner does; those that could not be predicted are left out. `date`: of the
// results, "2026-11-26T12:00:00+00:00".
nlohmann::ordered_json to_t4(const RankedSpace& ranked, const std::string& date);
nlohmann::ordered_json to_kernel_tuner(const RankedSpace& ranked, const std::string& date);

// Predicted time against the values of each tunable, the most important first; the shortest of each
// value is joined by a line.
PlotContent tuned_plot(const RankedSpace& ranked);

}  // namespace occupipe::report
