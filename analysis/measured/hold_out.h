// SPDX-License-Identifier: MIT
// Whether a comparison is with what the profile was fitted to, and how to make one that is not.
#pragma once

#include <string>

#include "core/gpu_profile.h"
#include "core/measurement.h"

namespace occupipe::analysis {

// Whether the profile's provenance names this file's content among what it was fitted to.
bool in_sample(const GpuProfile& profile, const MeasurementFile& file);

struct HoldOut {
    MeasurementFile rest;  // to fit
    MeasurementFile held;  // to compare with
    int shapes = 0;        // of all subjects, whatever their depth
    int held_shapes = 0;
};

// `which`: "every:N", of each subject's shapes in ascending order every N-th, the first of them in
// the middle of the first N; or shell patterns, separated by commas, on
// "SUBJECT/group_warps:N/concurrent_groups:N/chains:N". A shape is held out with all its depths.
// Throws InputError when `which` is neither, or nothing is held out or left.
HoldOut hold_out(const MeasurementFile& file, const std::string& which);

}  // namespace occupipe::analysis
