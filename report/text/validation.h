// SPDX-License-Identifier: MIT
// Models against a device over all occupancies of kernels: curves and tables.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "analysis/validation/counter_comparison.h"
#include "analysis/validation/validation.h"

namespace occupipe::report {

struct Validation {
    std::string profile;  // as it was given
    std::string gpu;      // its name
    std::string device;   // what was measured; empty: predictions alone
    std::vector<std::string> violations;
    std::vector<std::string> models;
    std::vector<analysis::ValidationCurve> curves;
    // What was published of the GPU of the profile; empty: nothing.
    std::vector<analysis::PublishedAccuracy> published;
    std::vector<analysis::CounterRow> counters;  // of a profiler; empty: none was given
};

inline constexpr const char* simulated_device =
    "It is a simulation of the Pipeline model, which favours pipeline by construction.";

// One kernel, occupipe-validation/1. `made_of`: hash of all that it was made from.
nlohmann::ordered_json to_json(const analysis::ValidationCurve& curve,
                               const std::vector<std::string>& models, const std::string& made_of);

// MAPE and MAPE_shape of each kernel and model, the means, and the models' ranks by mean MAPE.
nlohmann::ordered_json to_json(const Validation& validation);

// A line per kernel, occupancy and source: cycles, warps per cycle, cycles of a run.
std::string curves_csv(const Validation& validation);
// A line per kernel and model, mean and published figures among them.
std::string accuracy_csv(const Validation& validation);
// A line per kernel and count: executed machine code's and the profiler's.
std::string counters_csv(const Validation& validation);
// Tables in the layout of the analysis paper's tables 10 to 12, as Markdown.
std::string to_text(const Validation& validation);

}  // namespace occupipe::report
