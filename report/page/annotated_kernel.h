// SPDX-License-Identifier: MIT
// One page about one predicted kernel: its source with the time of each line, linked to the machine
// instructions that each line became.
#pragma once

#include <string>

#include "analysis/annotation.h"
#include "report/text/prediction_output.h"

namespace occupipe::report {

// A self-contained file for any browser. `set`: the predictions of the annotated launch.
std::string annotated_page(const PredictionSet& set, const analysis::Annotation& annotation);

}  // namespace occupipe::report
