// SPDX-License-Identifier: MIT
// How a GPU's schedulers choose, told by the mixes that were measured: each way of choosing
// (docs/background/pipeline-model.md, "Choice" and "Policies") is simulated on them, and the
// nearest wins if it is clearly nearer than every other.
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

// The scope of one subsystem of a GPU with several schedulers, where no curve shows it.
struct ScopeChoice {
    std::string subsystem;
    std::optional<Scope> scope;  // absent: undecided
    std::string text;            // a sentence
};

// Each of `subsystems` is simulated as one for the core and as one per scheduler, in the mixes that
// its instructions are in and in every way of choosing; decided as a way of choosing is.
std::vector<ScopeChoice> choose_scopes(const GpuProfile& profile,
                                       std::span<const MeasurementFile> files,
                                       std::span<const std::string> subsystems);

// Puts what is decided into `issue`, where the fit has not, and into the subsystems whose scope it
// assumed; the text into the provenance.
void apply_issue_choice(GpuProfile& profile, std::span<const MeasurementFile> files,
                        std::span<const std::string> assumed_scopes = {});

// Takes from `decided` what apply_issue_choice() once put there, without simulating again: true
// where it was fitted to exactly these files by the same version, and chose; else nothing changes.
bool take_issue_choice(const GpuProfile& decided, std::span<const MeasurementFile> files,
                       GpuProfile& profile);

}  // namespace occupipe::analysis
