// SPDX-License-Identifier: MIT
// Which parameters of two profiles differ by more than their errors.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/gpu_profile.h"
#include "fit/profile/field_diff.h"

namespace occupipe {

struct DiffOptions {
    // A parameter differs when its change is larger than both.
    double standard_errors = 3;
    double relative = 0.02;
    // In the place of standard errors where a profile has none.
    double relative_without_errors = 0.05;
};

enum class DiffVerdict {
    same,
    larger,      // in the second profile: slower
    smaller,     // faster
    different,   // words that are not the same
    only_first,  // the second profile does not have it
    only_second,
    not_comparable,  // a bound in one of the two that does not contradict the other
};

struct ParameterDiff {
    std::string name;  // "fma.f32 λ", "issue limit"
    std::optional<Estimate> first;
    std::optional<Estimate> second;
    DiffVerdict verdict = DiffVerdict::same;
    std::optional<double> relative;         // second / first - 1
    std::optional<double> standard_errors;  // of the difference
    // Instead of `first` and `second`, where the parameter is a word: "issue policy".
    std::string first_word;
    std::string second_word;
};

// By name: those of the first in their order, then those of the second alone.
std::vector<ParameterDiff> diff_parameters(const std::vector<Parameter>& first,
                                           const std::vector<Parameter>& second,
                                           const DiffOptions& options = {});

// Every field of a profile but texts and what core/profile_fields.h leaves out. λ is the core's,
// so that a change of scope alone is no difference.
std::vector<ParameterDiff> diff_profiles(const GpuProfile& first, const GpuProfile& second,
                                         const DiffOptions& options = {});

// Lines of what differs (all parameters with `everything`), then a count.
std::string format_diff(const std::vector<ParameterDiff>& diffs, bool everything);

}  // namespace occupipe
