// SPDX-License-Identifier: MIT
// What AutoMatch asks of a CPU or GPU (core/match_device.h), from measured rows
// (automatch/rows.h).
//
//   const FitOutcome outcome = fit_match_profile(files);
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/match_device.h"
#include "core/measurement.h"
#include "fit/profile/build_profile.h"

namespace occupipe::automatch {

struct MatchFit {
    MatchDevice device;
    // Cross-checks, what was disturbed, and what is not known and why.
    std::vector<std::string> notes;
};

// Absent where no file has such rows.
//   π0: the fastest kind of vector on all cores at once, per core. v: the narrowest within 5 % of
//   it. Z: the last cache as the system tells it; where the chases see less is a note. β: reading,
//   all cores together; β_f: harmonic mean of the caches' medians, α_f: arithmetic mean. β_s, α_s:
//   working sets of four times Z and more; smaller ones give bounds. s0: a barrier of all logical
//   CPUs.
// Of GPUs (rows of OpenCL's and CUDA's devices): n_p: lanes, as the device or a table tells them.
//   v: 1. Z: the groups' memory of all cores and the last cache; β_f and α_f: of these two. s0:
//   from one launch to the next, many back to back.
// Of a point's repetitions during which its threads ran all the time, the fastest quarter: its
// median, and half of its range for the standard error. Over the working sets of a level: the
// median with its standard error by the median absolute deviation, where that is greater.
std::optional<MatchFit> fit_match(std::span<const MeasurementFile> files);

// A profile of the device that has no instructions but this section. Throws InputError where no
// file has such rows, or where they are of different devices.
FitOutcome fit_match_profile(std::span<const MeasurementFile> files);

}  // namespace occupipe::automatch
