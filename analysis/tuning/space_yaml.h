// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "analysis/tuning/space.h"

namespace occupipe::analysis {

// A space in YAML of ours (docs/reference/file-formats/, "Search space"). parse_tuning_space()
// takes it, too. Throws InputError.
TuningSpace parse_space_yaml(const std::string& text, const std::string& file);

}  // namespace occupipe::analysis
