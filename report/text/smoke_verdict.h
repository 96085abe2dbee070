// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "analysis/device/smoke.h"

namespace occupipe::report {

std::string format_smoke(
    const analysis::SmokeVerdict& verdict);  // a table, notices, and GO or NO-GO

}  // namespace occupipe::report
