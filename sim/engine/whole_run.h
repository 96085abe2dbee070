// SPDX-License-Identifier: MIT
#pragma once

#include "sim/engine/simulate.h"

namespace occupipe::sim {

// simulate() with what the first groups wait for their places still in it. Only a launch whose
// groups differ is estimated.
SimulationResult whole_run(const Problem& problem, const SimulationOptions& options,
                           std::span<Observer* const> observers = {});

}  // namespace occupipe::sim
