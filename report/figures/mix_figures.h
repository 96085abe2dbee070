// SPDX-License-Identifier: MIT
// Instruction mixes: throughput of the first instruction over β and over occupancy, as measured, as
// simulated, and by the laws of Lemeire et al., "Analysis of the analytical performance models for
// GPUs", equations 43 to 45 (docs/background/pipeline-model.md, "Mixes").
#pragma once

#include <vector>

#include "analysis/measured/comparison.h"
#include "core/gpu_profile.h"
#include "plot/figure.h"

namespace occupipe::report {

// For every pair that was mixed: a panel over β at the largest occupancy where two β or more were
// measured, and one over occupancy for the β that was measured at most of them. The key names each
// curve's MAPE. `profile`: where the laws' λ and IL come from. Empty without such mixes.
std::vector<plot::Figure> mix_curves(const std::vector<analysis::MeasuredPoint>& points,
                                     const std::vector<analysis::Predictor>& predictors,
                                     const GpuProfile& profile);

}  // namespace occupipe::report
