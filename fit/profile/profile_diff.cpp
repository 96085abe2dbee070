// SPDX-License-Identifier: MIT
#include "fit/profile/profile_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "core/profile_fields.h"
#include "fit/profile/fit_report.h"

namespace occupipe {
namespace {

// Where the number lies for all that the estimate says.
struct Span {
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
};

Span range_of(const Estimate& e, const DiffOptions& options) {
    switch (e.kind) {
        case Estimate::Kind::value: {
            const double error = options.standard_errors *
                                 e.std_error.value_or(options.relative_without_errors * e.value);
            return {.low = e.value - error, .high = e.value + error};
        }
        case Estimate::Kind::upper_bound:
            return {.high = e.value};
        case Estimate::Kind::lower_bound:
            return {.low = e.value};
        case Estimate::Kind::undetermined:
            break;
    }
    return {};
}

// Two estimates of which at least one is a bound differ when their ranges lie apart.
DiffVerdict judge_bounds(const Estimate& a, const Estimate& b, const DiffOptions& options) {
    const Span first = range_of(a, options);
    const Span second = range_of(b, options);
    if (second.low > first.high * (1 + options.relative)) return DiffVerdict::larger;
    if (first.low > second.high * (1 + options.relative)) return DiffVerdict::smaller;
    return DiffVerdict::not_comparable;
}

DiffVerdict judge(ParameterDiff& d, const DiffOptions& options) {
    const Estimate& a = *d.first;
    const Estimate& b = *d.second;
    if (!a.identifiable() || !b.identifiable()) return judge_bounds(a, b, options);
    // A share may be 0: then no change is a relative one.
    const double change = b.value - a.value;
    if (a.value != 0) d.relative = b.value / a.value - 1;
    const auto beyond = [&](double relative) {
        return d.relative ? std::abs(*d.relative) > relative : change != 0;
    };
    bool differs = beyond(options.relative);
    if (a.std_error && b.std_error && std::hypot(*a.std_error, *b.std_error) > 0) {
        d.standard_errors = change / std::hypot(*a.std_error, *b.std_error);
        differs = differs && std::abs(*d.standard_errors) > options.standard_errors;
    } else {
        differs = beyond(options.relative_without_errors);
    }
    if (!differs) return DiffVerdict::same;
    return change > 0 ? DiffVerdict::larger : DiffVerdict::smaller;
}

std::string value_text(const std::optional<Estimate>& estimate, const std::string& word) {
    if (!word.empty()) return word;
    return estimate ? format_estimate(*estimate) : "none";
}

DiffVerdict compare(ParameterDiff& d, const DiffOptions& options) {
    const bool in_first = d.first || !d.first_word.empty();
    const bool in_second = d.second || !d.second_word.empty();
    if (!in_second) return DiffVerdict::only_first;
    if (!in_first) return DiffVerdict::only_second;
    if (d.first && d.second) return judge(d, options);
    return d.first_word == d.second_word ? DiffVerdict::same : DiffVerdict::different;
}

std::string_view words_of(DiffVerdict verdict) {
    switch (verdict) {
        case DiffVerdict::same:
            return "same";
        case DiffVerdict::larger:
            return "larger";
        case DiffVerdict::smaller:
            return "smaller";
        case DiffVerdict::different:
            return "different";
        case DiffVerdict::only_first:
            return "only in the first";
        case DiffVerdict::only_second:
            return "only in the second";
        case DiffVerdict::not_comparable:
            break;
    }
    return "not comparable";
}

}  // namespace

std::vector<ParameterDiff> diff_parameters(const std::vector<Parameter>& first,
                                           const std::vector<Parameter>& second,
                                           const DiffOptions& options) {
    std::vector<ParameterDiff> diffs;
    std::unordered_map<std::string_view, std::size_t> place;
    for (const Parameter& p : first) {
        place.emplace(p.name, diffs.size());
        diffs.push_back({.name = p.name,
                         .first = p.estimate,
                         .second = {},
                         .relative = {},
                         .standard_errors = {},
                         .first_word = p.word,
                         .second_word = {}});
    }
    for (const Parameter& p : second) {
        const auto [at, is_new] = place.emplace(p.name, diffs.size());
        if (is_new) diffs.push_back({.name = p.name});
        diffs[at->second].second = p.estimate;
        diffs[at->second].second_word = p.word;
    }
    for (ParameterDiff& d : diffs) d.verdict = compare(d, options);
    return diffs;
}

std::vector<ParameterDiff> diff_profiles(const GpuProfile& first, const GpuProfile& second,
                                         const DiffOptions& options) {
    return diff_parameters(parameters_of(first), parameters_of(second), options);
}

std::string format_diff(const std::vector<ParameterDiff>& diffs, bool everything) {
    std::string out;
    int different = 0;
    int unknown = 0;
    int missing = 0;
    for (const ParameterDiff& d : diffs) {
        different += d.verdict == DiffVerdict::larger || d.verdict == DiffVerdict::smaller ||
                     d.verdict == DiffVerdict::different;
        unknown += d.verdict == DiffVerdict::not_comparable;
        missing += d.verdict == DiffVerdict::only_first || d.verdict == DiffVerdict::only_second;
        const std::string before = value_text(d.first, d.first_word);
        const std::string after = value_text(d.second, d.second_word);
        // The same bound twice is no comparison, but nothing to read either.
        const bool silent = d.verdict == DiffVerdict::same ||
                            (d.verdict == DiffVerdict::not_comparable && before == after);
        if (silent && !everything) continue;
        out += fmt::format("{}: {} -> {}: {}", d.name, before, after, words_of(d.verdict));
        std::vector<std::string> by;
        if (d.relative) by.push_back(fmt::format("{:+.2f} %", 100 * *d.relative));
        if (d.standard_errors)
            by.push_back(fmt::format("{:+.1f} standard errors", *d.standard_errors));
        out += by.empty() ? "\n" : fmt::format(" ({})\n", fmt::join(by, ", "));
    }
    return out +
           fmt::format("{} parameters: {} differ, {} in one profile only, {} not comparable\n",
                       diffs.size(), different, missing, unknown);
}

}  // namespace occupipe
