// SPDX-License-Identifier: MIT
// From measurement files to the profile: every instruction's fit, every mix's verdict, and where
// each number comes from.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/gpu_profile.h"
#include "core/measurement.h"
#include "fit/curve.h"
#include "fit/fit_mix.h"
#include "fit/fit_timing.h"
#include "fit/fit_working_set.h"

namespace occupipe {

struct FitOptions {
    TimingFitOptions timing;
};

struct SubjectReport {
    Curve curve;
    TimingFit fit;
    std::string subsystem;  // of the profile's entry; empty when there is none
    // Raw values rounded to the nearest multiple of 1/IL, as the papers print them; only for
    // reports, and only where IL is known and the multiple is not zero.
    std::optional<double> rounded_cpi;
    std::optional<double> rounded_latency;
};

struct FitOutcome {
    GpuProfile profile;
    std::vector<SubjectReport> subjects;  // instructions, in order of first appearance
    std::vector<MixFit> mixes;
    std::vector<WorkingSetFit> working_sets;
    std::vector<std::string> notes;  // about the whole; also in the profile's provenance
};

// Throws InputError when the files cannot make a profile: no device facts, different devices, no
// instruction that could be fitted (with the reason of each).
FitOutcome fit_measurements(std::span<const MeasurementFile> files, const FitOptions& options = {});

}  // namespace occupipe
