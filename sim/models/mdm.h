// SPDX-License-Identifier: MIT
#pragma once

#include "sim/models/model.h"

namespace occupipe {

// Few requests: each waits for half of the others.
Prediction predict_mdm(const Problem& problem, const ModelOptions& options);

// More requests than a core can have under way: each waits for all.
Prediction predict_mdm_divergent(const Problem& problem, const ModelOptions& options);

}  // namespace occupipe
