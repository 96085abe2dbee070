// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "analysis/measured/slope_accuracy.h"

namespace occupipe::report {

// Markdown: a table for mixes and one for instructions.
std::string slope_accuracy_text(const analysis::SlopeAccuracy& accuracy);

}  // namespace occupipe::report
