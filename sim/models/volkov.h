// SPDX-License-Identifier: MIT
#pragma once

#include "sim/models/model.h"

namespace occupipe {

Prediction predict_volkov(const Problem& problem, const ModelOptions& options);

}  // namespace occupipe
