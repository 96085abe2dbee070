// SPDX-License-Identifier: MIT
#pragma once

#include "sim/models/model.h"

namespace occupipe {

Prediction predict_boat_hull(const Problem& problem, const ModelOptions& options);

}  // namespace occupipe
