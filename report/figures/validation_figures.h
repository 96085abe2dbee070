// SPDX-License-Identifier: MIT
// Figures of a validation: throughput over occupancy, measured and predicted, a panel per kernel.
#pragma once

#include "report/figures/plot_file.h"
#include "report/text/validation.h"

namespace occupipe::report {

// Like figures 17 and 18 of the analysis paper: warps per cycle relative to the measured one at the
// least occupancy, which is 100; without a measurement, relative to the first model's, and titles
// say that nothing was measured.
PlotContent validation_plot(const Validation& validation);

}  // namespace occupipe::report
