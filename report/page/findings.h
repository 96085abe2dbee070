// SPDX-License-Identifier: MIT
// The self-check's result as a page: disagreements, the most suspicious first, then what
// agrees.
#pragma once

#include <string>
#include <vector>

#include "analysis/device/self_check.h"

namespace occupipe::report {

struct CheckedProfile {
    std::string file;
    const GpuProfile* profile = nullptr;
    analysis::SelfCheck check;
};

std::string findings_markdown(const std::vector<CheckedProfile>& profiles,
                              const analysis::Published& published);
// A page of its own.
std::string findings_html(const std::vector<CheckedProfile>& profiles,
                          const analysis::Published& published);
// "occupipe-selfcheck/1": findings and agreements with their numbers.
std::string findings_json(const std::vector<CheckedProfile>& profiles);

}  // namespace occupipe::report
