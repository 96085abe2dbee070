// SPDX-License-Identifier: MIT
#include "core/row_dependence.h"

namespace occupipe {

bool waits_for_result(const MeasurementRow& row) {
    if (const auto said = row.counters.find(dependent_counter)) return *said != 0.0;
    const bool load = row.subject.starts_with("ld.");
    return !load || (row.subject.find(".f32") == std::string::npos &&
                     row.subject.find(".f64") == std::string::npos);
}

}  // namespace occupipe
