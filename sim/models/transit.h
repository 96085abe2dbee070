// SPDX-License-Identifier: MIT
#pragma once

#include "sim/models/model.h"

namespace occupipe {

Prediction predict_transit(const Problem& problem, const ModelOptions& options);

Prediction predict_x_model(const Problem& problem, const ModelOptions& options);

}  // namespace occupipe
