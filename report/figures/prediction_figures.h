// SPDX-License-Identifier: MIT
// Figures of predictions: throughput over occupancy, by model.
#pragma once

#include <cstddef>

#include "cli/plot_file.h"
#include "cli/prediction_output.h"
#include "plot/figure.h"

namespace occupipe::cli {

// Throws InputError when there is one occupancy only: that is no curve.
void require_curve(std::size_t occupancies);

// Warps per cycle against warps per core, a line per model.
plot::Figure occupancy_curves(const PredictionSet& set);

PlotContent prediction_plot(const PredictionSet& set);

}  // namespace occupipe::cli
