// SPDX-License-Identifier: MIT
// One page about one predicted kernel: its source with the time of each line, linked to the machine
// instructions that each line became.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/explanation/annotation.h"
#include "analysis/explanation/sensitivity.h"
#include "core/occupancy.h"
#include "report/text/prediction_output.h"

namespace occupipe::report {

// What `report` shows beside; what is absent has no section.
struct KernelPageMore {
    std::optional<Occupancy> occupancy;   // of the code
    std::vector<Prediction> occupancies;  // by one model, one for each occupancy
    std::vector<analysis::Sensitivity> what_ifs;
    double cycles = 0;  // that these save of
};

// A self-contained file for any browser. `set`: the predictions of the annotated launch.
std::string annotated_page(const PredictionSet& set, const analysis::Annotation& annotation,
                           const KernelPageMore& more = {});

}  // namespace occupipe::report
