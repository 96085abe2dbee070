// SPDX-License-Identifier: MIT
#pragma once

#include "sim/models/model.h"

namespace occupipe {

Prediction predict_mwp_cwp(const Problem& problem, const ModelOptions& options);

// The memory-bound case as Hong and Kim print it: MWP−1 warps' computing is not hidden, not MWP's.
Prediction predict_mwp_cwp_hong_kim(const Problem& problem, const ModelOptions& options);

Prediction predict_mwp_cwp_corrected(const Problem& problem, const ModelOptions& options);

}  // namespace occupipe
