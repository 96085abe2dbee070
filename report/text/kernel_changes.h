// SPDX-License-Identifier: MIT
// Words for what changed between two versions of a kernel, in columns and on pages.
//   change_number(4184.2)  → "4,184"      signed_change(-12.34) → "-12.3"
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analysis/explanation/kernel_comparison.h"

namespace occupipe::report {

// Grouped whole numbers from 100 on, else three digits; "0" for zero.
std::string change_number(double value);
std::string signed_change(double value);
std::string change_range(const analysis::Interval& interval);  // "-1,600 to -1,480"
// "+12.3 %"; "new" where there was nothing, "" where there is nothing either.
std::string change_percent(const analysis::BeforeAfter& pair);
// "~", "-", "+", or nothing.
const char* mark(analysis::LineFate fate);
// Those that cost most, before or after, first.
std::vector<std::pair<sim::WaitReason, analysis::BeforeAfter>> reasons_by_cost(
    const analysis::KernelComparison& comparison);

}  // namespace occupipe::report
