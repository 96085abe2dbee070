// SPDX-License-Identifier: MIT
// From measurement files to the profile: every instruction's fit, every mix's verdict, and where
// each number comes from.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/gpu_profile.h"
#include "core/measurement.h"
#include "fit/curves/curve.h"
#include "fit/curves/families.h"
#include "fit/laws/fit_overheads.h"
#include "fit/laws/fit_timing.h"
#include "fit/laws/fit_working_set.h"
#include "fit/structure/fit_mix.h"
#include "fit/structure/subsystems.h"
#include "fit/structure/warp_choice.h"

namespace occupipe {

struct FitOptions {
    TimingFitOptions timing;
};

struct SubjectReport {
    Curve curve;
    // Of several curves of one subject (another N, another degree of conflict) the one that the
    // profile's entry takes its λ and Λ from: that with the smallest value.
    bool primary = true;
    TimingFit fit;
    std::string subsystem;  // of the profile's entry; empty when it has none
    // Raw values rounded to the nearest multiple of 1/IL, as the papers print them; only for
    // reports, and only where IL is known and the multiple is not zero.
    std::optional<double> rounded_cpi;
    std::optional<double> rounded_latency;
    // Over the bytes in flight, where rows say them, and over the instructions in flight where no
    // law fits; per core.
    std::vector<ParameterTable> tables;
    // Barriers: time of a step of one group against its warps less one, and what it should be by
    // the joint fit (intercept Λ, slope λ).
    std::optional<LineFit> barrier_line;
};

struct FitOutcome {
    GpuProfile profile;
    std::vector<SubjectReport> subjects;  // instructions, in order of first appearance
    std::vector<Family> families;         // members are places in `subjects`
    std::vector<MixFit> mixes;
    std::vector<WorkingSetFit> working_sets;
    std::vector<OverheadFit> overheads;
    SubsystemMap partition;
    std::vector<std::string> assumed_scopes;  // subsystems whose scope is not known
    std::optional<WarpChoice> warp_choice;    // absent: unknown
    std::vector<std::string> notes;           // about the whole; also in the profile's provenance
};

// Rows of AutoMatch are left out. Throws InputError when the files cannot make a profile: no device
// facts, different devices, no instruction that could be fitted (with the reason of each).
FitOutcome fit_measurements(std::span<const MeasurementFile> files, const FitOptions& options = {});

// A profile without instructions: the device's facts, and where they come from. `notes` stand
// before its own.
FitOutcome fit_device_alone(std::span<const MeasurementFile> files, std::vector<std::string> notes);

}  // namespace occupipe
