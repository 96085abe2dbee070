// SPDX-License-Identifier: MIT
#pragma once

#include "sim/models/model.h"

namespace occupipe {

Prediction predict_transit(const GpuProfile& profile, const Kernel& kernel, const Launch& launch,
                           const ModelOptions& options);

Prediction predict_x_model(const GpuProfile& profile, const Kernel& kernel, const Launch& launch,
                           const ModelOptions& options);

}  // namespace occupipe
