// SPDX-License-Identifier: MIT
#pragma once

#include "sim/models/kernel_analysis.h"

namespace occupipe {

// Σ n_i and Σ s_i of a walk, in slots, and what the equations share.
struct IntervalSums {
    double instructions = 0;
    double stalls = 0;  // [slots]
    double count = 0;

    double issue_probability() const;  // needs an interval
    double mean_instructions() const { return instructions / count; }
};

// A slot is the mean λ of the walk's computations: with it GPUMech's one instruction per cycle
// becomes one per slot. 1 where there are no computations.
double slot_cycles(const WorkFlow& flow);

IntervalSums interval_sums(const Walk& walk, double slot);

// Instructions of other warps that the stall of an interval does not hide: GTO.
double not_hidden_gto(const Interval& interval, const IntervalSums& sums, double slot,
                      double warps);

}  // namespace occupipe
