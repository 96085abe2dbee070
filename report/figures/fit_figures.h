// SPDX-License-Identifier: MIT
// Figures of what a fit found.
#pragma once

#include <string>
#include <vector>

#include "fit/profile/build_profile.h"
#include "plot/figure.h"
#include "report/figures/plot_file.h"

namespace occupipe::report {

// Cycles per instruction against the instructions in flight: measured, fitted, and the asymptotes
// Λ/M and λ.
plot::Figure hull_figure(const SubjectReport& subject);
// The hull over its residuals.
plot::Picture hull_picture(const SubjectReport& subject);

// One instruction of type 1's throughput against β, measured, with the three laws.
plot::Figure mix_figure(const MixFit& mix);
std::string mix_verdict(const MixFit& mix);

// Latency of a dependent access against the working set, with the plateaus.
plot::Picture working_set_picture(const WorkingSetFit& fit);

// Λ against λ of all instructions, with standard errors, by subsystem.
plot::Picture timing_map(const GpuProfile& profile);

// What `fit --plot` draws: these instructions, or all where none is named. Throws InputError for a
// name that was not measured.
PlotContent fit_plot(const FitOutcome& outcome, const std::vector<std::string>& only);

}  // namespace occupipe::report
