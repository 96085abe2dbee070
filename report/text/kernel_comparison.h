// SPDX-License-Identifier: MIT
// Two versions of a kernel on one GPU, in columns:
//       before  after  cycles  →        change  executed  →      source
//   ~       11     11  3,120   1,180    -1,940  8,000     8,000  out[y * n + x] = tile[…
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "analysis/explanation/kernel_comparison.h"
#include "core/gpu_profile.h"

namespace occupipe::report {

struct KernelComparisonReport {
    analysis::KernelComparison comparison;
    std::string profile;  // its file
    std::string device;
    std::vector<std::string> assumptions;
};

std::string to_text(const KernelComparisonReport& report);

// occupipe-kernel-comparison/1 (docs/reference/file-formats/).
nlohmann::ordered_json to_json(const KernelComparisonReport& report);

}  // namespace occupipe::report
