// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "core/estimate.h"

namespace occupipe::report {

// "loop control 0.0120 (96 %), scatter 0.0024 (4 %)", the largest first, with its share of the
// variance. Empty where the terms are not known.
std::string error_terms_text(const Estimate& estimate);

}  // namespace occupipe::report
