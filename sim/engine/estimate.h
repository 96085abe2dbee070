// SPDX-License-Identifier: MIT
#pragma once

#include "sim/engine/simulate.h"

namespace occupipe {

// What simulate() does with options.estimate. A run that is answered within `exact_instructions`
// is exact. Otherwise smaller runs are simulated in full: loops with a fraction of their
// iterations, fewer groups, the ones and the others twice as large in turns from level to level.
// Their time is close to
//   T = a + b·w + c·g + d·w·g        w: instructions of a group, g: groups of the core
// where the rate is steady; four runs give what it would be for the whole launch. The estimate is
// taken where four levels agree, and `error` is three times their spread: what was observed, no
// proof. Throws LimitReached when fewer than three levels fit into options.max_simulated, and
// InputError like simulate().
SimulationResult estimate(const Problem& problem, SimulationOptions options);

// The same without trying the run itself first.
SimulationResult extrapolated(const Problem& problem, const SimulationOptions& options);

inline constexpr std::int64_t exact_instructions = 5'000'000;

}  // namespace occupipe
