// SPDX-License-Identifier: MIT
// How far the errors of a profile reach into the times of single instructions and lines.
#pragma once

#include <cstdint>

#include "analysis/explanation/annotation.h"
#include "analysis/explanation/sensitivity.h"

namespace occupipe::analysis {

// Draws of the profile for which every instruction's time is worth its simulation: at most `draws`,
// and as many as simulate 2·10^7 instructions of warps, since nothing that repeats is skipped; 0:
// these are fewer than 20, too few for an interval.
int draws_by_line(const Annotation& annotation, int draws);

// Fills in the intervals of instructions and lines: the launch is annotated with each of the drawn
// profiles, those of difference_uncertainty(). `prepare` made of kernel and profile what was
// annotated; absent: they are as they were. Throws as annotate().
void add_intervals(Annotation& annotation, const GpuProfile& profile, const Kernel& kernel,
                   const Launch& launch, const SimulationOptions& options, int draws,
                   std::uint64_t seed, const Prepare& prepare = {});

}  // namespace occupipe::analysis
