// SPDX-License-Identifier: MIT
// Figures of measured points beside predicted ones.
#pragma once

#include <string>
#include <vector>

#include "analysis/measured/comparison.h"
#include "core/gpu_profile.h"
#include "plot/figure.h"
#include "report/figures/plot_file.h"

namespace occupipe::report {

// Share of the points against the error of the predicted throughput, a line per predictor. At least
// one predictor has a value.
plot::Figure error_distribution(const std::vector<analysis::MeasuredPoint>& points,
                                const std::vector<analysis::Predictor>& predictors);

// Throughput of one of the subjects over what is in flight, measured and by every predictor; of
// points with equal numbers in flight the deepest.
plot::Figure subject_curves(const std::string& subject,
                            const std::vector<analysis::MeasuredPoint>& points,
                            const std::vector<analysis::Predictor>& predictors);

// The same as a picture that is high enough for the key.
plot::Picture subject_picture(const std::string& subject,
                              const std::vector<analysis::MeasuredPoint>& points,
                              const std::vector<analysis::Predictor>& predictors);

// With a profile: curves of the mixes (mix_figures.h) beside the distribution of all errors.
PlotContent comparison_plot(const std::string& title,
                            const std::vector<analysis::MeasuredPoint>& points,
                            const std::vector<analysis::Predictor>& predictors,
                            const GpuProfile* profile = nullptr);

}  // namespace occupipe::report
