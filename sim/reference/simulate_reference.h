// SPDX-License-Identifier: MIT
#pragma once

#include "sim/engine/simulate.h"

namespace occupipe {

// The same simulation as simulate(), written to be obviously correct: loops replicated, every warp
// and instruction examined whenever anything changes. For small cases; the fast one must equal it.
SimulationResult simulate_reference(const GpuProfile& profile, const Kernel& kernel,
                                    const Launch& launch, const SimulationOptions& options = {});

}  // namespace occupipe
