// SPDX-License-Identifier: MIT
#include "core/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace occupipe {

void add_note(Estimate& estimate, std::string_view text) {
    estimate.note.append(estimate.note.empty() ? "" : "; ").append(text);
}

void add_doubt(Estimate& estimate, const Doubt& doubt, std::string_view detail) {
    add_note(estimate, doubt_text(doubt).append(detail));
    estimate.doubts.push_back(doubt);
}

bool has_doubt(const Estimate& estimate, Doubt::Kind kind) {
    return std::ranges::any_of(estimate.doubts,
                               [kind](const Doubt& doubt) { return doubt.kind == kind; });
}

bool is_doubtful(const Estimate& estimate) {
    return std::ranges::any_of(estimate.doubts, [](const Doubt& doubt) {
        return doubt.kind != Doubt::Kind::at_issue_limit;
    });
}

void add_error(Estimate& estimate, std::string_view name, double size) {
    if (size == 0) return;
    estimate.std_error = std::hypot(estimate.std_error.value_or(0), size);
    estimate.error_terms.push_back({std::string(name), std::abs(size)});
}

void raise_error(Estimate& estimate, std::string_view name, double least) {
    const double error = estimate.std_error.value_or(0);
    if (!(least > error)) return;
    estimate.error_terms.push_back(
        {std::string(name), std::sqrt((least - error) * (least + error))});
    estimate.std_error = least;
}

void become_bound(Estimate& estimate, Estimate::Kind kind, double value) {
    estimate.kind = kind;
    estimate.value = value;
    estimate.std_error.reset();
    estimate.error_terms.clear();
}

std::string_view sign_of(Estimate::Kind kind) {
    switch (kind) {
        case Estimate::Kind::value:
            return "";
        case Estimate::Kind::upper_bound:
            return "≤ ";
        case Estimate::Kind::lower_bound:
            return "≥ ";
        case Estimate::Kind::undetermined:
            break;
    }
    return "bound ";
}

std::string_view to_string(Estimate::Kind kind) {
    switch (kind) {
        case Estimate::Kind::value:
            return "value";
        case Estimate::Kind::upper_bound:
            return "upper bound";
        case Estimate::Kind::lower_bound:
            return "lower bound";
        case Estimate::Kind::undetermined:
            break;
    }
    return "bound of unknown direction";
}

namespace {

// So that the error shows two significant digits.
int decimals_of(double error) {
    return std::clamp(1 - static_cast<int>(std::floor(std::log10(error))), 0, 12);
}

bool has_error(const Estimate& estimate) {
    return estimate.identifiable() && estimate.std_error.value_or(0) > 0;
}

}  // namespace

std::string value_text(const Estimate& estimate) {
    if (!estimate.identifiable())
        return fmt::format("{}{:.4g}", sign_of(estimate.kind), estimate.value);
    if (!has_error(estimate)) return fmt::format("{:.6g}", estimate.value);
    return fmt::format("{:.{}f}", estimate.value, decimals_of(*estimate.std_error));
}

std::string estimate_text(const Estimate& estimate) {
    std::string text = value_text(estimate);
    if (has_error(estimate))
        text += fmt::format(" ± {:.{}f}", *estimate.std_error, decimals_of(*estimate.std_error));
    return text;
}

}  // namespace occupipe
