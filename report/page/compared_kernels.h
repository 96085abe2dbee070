// SPDX-License-Identifier: MIT
// Two versions of a kernel on one GPU as a page: what changed, by source line.
#pragma once

#include <string>

#include "report/text/kernel_comparison.h"

namespace occupipe::report {

// A self-contained file for any browser.
std::string comparison_page(const KernelComparisonReport& report);

}  // namespace occupipe::report
