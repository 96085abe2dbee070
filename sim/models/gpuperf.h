// SPDX-License-Identifier: MIT
#pragma once

#include "sim/models/model.h"

namespace occupipe {

Prediction predict_gpuperf(const GpuProfile& profile, const Kernel& kernel, const Launch& launch,
                           const ModelOptions& options);

}  // namespace occupipe
