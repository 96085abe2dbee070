// SPDX-License-Identifier: MIT
// Rows of a measurement file that are AutoMatch's and no instruction's
// (docs/reference/file-formats/).
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/measurement.h"

namespace occupipe {

inline constexpr std::string_view automatch_prefix = "match.";  // of their subjects

bool is_automatch(const MeasurementRow& row);
bool has_automatch_rows(std::span<const MeasurementFile> files);
std::vector<MeasurementFile> without_automatch_rows(std::span<const MeasurementFile> files);

}  // namespace occupipe
