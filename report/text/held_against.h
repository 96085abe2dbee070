// SPDX-License-Identifier: MIT
// Predictions held against what others measured, as text, tables and a picture.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "analysis/tuning/configurations.h"
#include "report/figures/plot_file.h"

namespace occupipe::report {

// Scores by model and, of the first model, by what limits; the configurations that are furthest
// off; those that are refused, with the reason.
std::string to_text(const analysis::HeldAgainst& held);
nlohmann::ordered_json to_json(const analysis::HeldAgainst& held);
// A row for each configuration: its tunables, measured and predicted seconds, limiter, refusal.
std::string to_csv(const analysis::HeldAgainst& held);

// Predicted against measured seconds, both logarithmic, a series for each limiter.
PlotContent held_against_plot(const analysis::HeldAgainst& held);

}  // namespace occupipe::report
