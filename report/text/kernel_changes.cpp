// SPDX-License-Identifier: MIT
#include "report/text/kernel_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "report/text/annotated_source.h"

namespace occupipe::report {

using analysis::BeforeAfter;
using analysis::LineFate;

std::string change_number(double value) {
    if (value == 0) return "0";
    return std::abs(value) >= 100 ? grouped_number(value) : fmt::format("{:.3g}", value);
}

std::string signed_change(double value) { return (value > 0 ? "+" : "") + change_number(value); }

std::string change_range(const analysis::Interval& interval) {
    if (interval.low == 0 && interval.high == 0) return "0";
    return signed_change(interval.low) + " to " + signed_change(interval.high);
}

std::string change_percent(const BeforeAfter& pair) {
    if (pair.before == 0) return pair.after == 0 ? "" : "new";
    return fmt::format("{:+.1f} %", 100 * pair.difference() / pair.before);
}

const char* mark(LineFate fate) {
    switch (fate) {
        case LineFate::changed:
            return "~";
        case LineFate::removed:
            return "-";
        case LineFate::added:
            return "+";
        case LineFate::same:
        case LineFate::unknown:
            break;
    }
    return "";
}

std::vector<std::pair<sim::WaitReason, BeforeAfter>> reasons_by_cost(
    const analysis::KernelComparison& comparison) {
    std::vector<std::pair<sim::WaitReason, BeforeAfter>> sorted(comparison.reasons.begin(),
                                                                comparison.reasons.end());
    std::ranges::stable_sort(sorted, std::greater(), [](const auto& one) {
        return std::max(one.second.before, one.second.after);
    });
    return sorted;
}

}  // namespace occupipe::report
