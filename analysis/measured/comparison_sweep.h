// SPDX-License-Identifier: MIT
// What `compare --device` measures.
#pragma once

#include "bench/kernel/sweep.h"

namespace occupipe::analysis {

// The paper's test kernels, as far as the device has them: mixes over β at full occupancy and, for
// β = 4, over occupancy (on a CPU over chains); barriers over group sizes; chains of one
// instruction over occupancy and ILP; streaming reads. What the device lacks is among the skipped.
bench::SweepPlan comparison_sweep(const bench::Backend& backend, bool quick);

}  // namespace occupipe::analysis
