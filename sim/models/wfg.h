// SPDX-License-Identifier: MIT
#pragma once

#include "sim/models/model.h"

namespace occupipe {

Prediction predict_wfg(const GpuProfile& profile, const Kernel& kernel, const Launch& launch,
                       const ModelOptions& options);

Prediction predict_wfg_corrected(const GpuProfile& profile, const Kernel& kernel,
                                 const Launch& launch, const ModelOptions& options);

}  // namespace occupipe
