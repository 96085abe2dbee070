// SPDX-License-Identifier: MIT
#pragma once

#include "sim/engine/simulate.h"

namespace occupipe {

// What simulate() does with options.estimate, before it takes off the start. A run that is answered
// within options.exact instructions is exact. Where its groups ended at a steady rate until then
// (steady_rate.h), the others are taken to end at that rate, and what the last ones take longer is
// that of a launch of few waves; of groups that differ, the last ones themselves are simulated.
// Long loops of such a launch are cut first, where its groups are cut alike. Otherwise smaller runs
// are simulated in full: loops with a fraction of their iterations, fewer groups, the ones and the
// others twice as large in turns from level to level. Their time is close to
//   T = a + b·w + c·g + d·w·g        w: instructions of a group, g: groups of the core
// where the rate is steady; four runs give what it would be for the whole launch. The estimate is
// taken where four levels agree. `error` is three times the standard error, or the spread of these
// levels: what was observed, no proof. Throws LimitReached when fewer than three levels fit into
// options.max_simulated, and InputError like simulate().
SimulationResult estimate(const Problem& problem, const SimulationOptions& options);

// The same from smaller runs alone.
SimulationResult extrapolated(const Problem& problem, const SimulationOptions& options);

}  // namespace occupipe
