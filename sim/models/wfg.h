// SPDX-License-Identifier: MIT
#pragma once

#include "sim/models/model.h"

namespace occupipe {

Prediction predict_wfg(const Problem& problem, const ModelOptions& options);

Prediction predict_wfg_corrected(const Problem& problem, const ModelOptions& options);

}  // namespace occupipe
