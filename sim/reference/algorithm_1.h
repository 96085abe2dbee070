// SPDX-License-Identifier: MIT
#pragma once

#include "sim/engine/simulate.h"

namespace occupipe {

// The simulator that Cornelis and Lemeire print, "The Pipeline Performance Model", Algorithm 1, as
// it stands there: a queue of issue and completion events, a pipeline that finds nothing to issue
// looks again one cycle later, and no issue limit. For small cases: it polls.
//
// What the algorithm leaves open is chosen here: at one time completions come before issues; a new
// group takes the place of the one that ended; a barrier completes Λ after its group's last warp
// issued it; for the end of its warp a store is finished after λ (the paper's section III C). Where
// the search for an instruction begins is left open, too: see Search.
//
// With λ and Λ of whole cycles it equals simulate_reference() with `select: subsystem`, no issue
// limit and the policy that Search names. Elsewhere it issues later, by less than a cycle each time
// a pipeline idled.
enum class Search {
    in_turn,  // at the warp after the one that the pipeline took last: policy lrr
    first,    // always at the oldest group's first warp: policy oldest
};

// Throws InputError like simulate(), and for a profile of several schedulers or with contention,
// which the algorithm does not have.
SimulationResult simulate_algorithm_1(const GpuProfile& profile, const Kernel& kernel,
                                      const Launch& launch, Search search = Search::in_turn);

}  // namespace occupipe
