// SPDX-License-Identifier: MIT
// How a GPU's schedulers choose, told by the mixes that were measured: each way of choosing
// (docs/model.md, "Choice" and "Policies") is simulated on them, and the nearest wins if it is
// clearly nearer than every other.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/gpu_profile.h"
#include "core/measurement.h"

namespace occupipe::analysis {

struct IssueWay {
    Select select = Select::subsystem;
    Policy policy = Policy::lrr;
    double error = 0;  // mean |log(simulated / measured)| over mixes, each mix's points together
};

struct IssueChoice {
    int mixes = 0;
    std::vector<IssueWay> ways;  // the nearest first; empty without mixes
    // Absent: undecided, so that the defaults are assumed.
    std::optional<Select> select;
    std::optional<Policy> policy;
    std::string text;  // what was found and by which margin, or why nothing was; a sentence
};

// The mixes at every occupancy and β, of each the deepest point. A choice is decided when it is
// nearer than the best of the others by a hundredth and by three standard errors over the mixes, of
// which there are at least four.
IssueChoice choose_issue(const GpuProfile& profile, std::span<const MeasurementFile> files);

// Puts what is decided into `issue`, where the fit has not, and the text into the provenance.
void apply_issue_choice(GpuProfile& profile, std::span<const MeasurementFile> files);

}  // namespace occupipe::analysis
