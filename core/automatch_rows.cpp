// SPDX-License-Identifier: MIT
#include "core/automatch_rows.h"

#include <algorithm>

namespace occupipe {

bool is_automatch(const MeasurementRow& row) { return row.subject.starts_with(automatch_prefix); }

bool has_automatch_rows(std::span<const MeasurementFile> files) {
    return std::ranges::any_of(files, [](const MeasurementFile& file) {
        return std::ranges::any_of(file.rows, is_automatch);
    });
}

std::vector<MeasurementFile> without_automatch_rows(std::span<const MeasurementFile> files) {
    std::vector<MeasurementFile> rest(files.begin(), files.end());
    for (MeasurementFile& file : rest) std::erase_if(file.rows, is_automatch);
    return rest;
}

}  // namespace occupipe
