// SPDX-License-Identifier: MIT
// Figures of predictions: throughput over occupancy, by model.
#pragma once

#include <cstddef>

#include "plot/figure.h"
#include "report/figures/plot_file.h"
#include "report/text/prediction_output.h"

namespace occupipe::report {

// Throws InputError when there is one occupancy only: that is no curve.
void require_curve(std::size_t occupancies);

// Warps per cycle against warps per core, a line per model.
plot::Figure occupancy_curves(const PredictionSet& set);

PlotContent prediction_plot(const PredictionSet& set);

}  // namespace occupipe::report
