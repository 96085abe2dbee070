// SPDX-License-Identifier: MIT
// Warps that drift apart: where a scheduler prefers some warps these end early, and the rest cannot
// fill the unit; last stop less first start then overstates λ. Rows that say how many warps ran for
// how long (core/running_warps.h) allow the time to be reckoned that the run would have taken had
// its warps stayed together.
#pragma once

#include <optional>
#include <vector>

#include "core/instruction.h"
#include "fit/curves/curve.h"
#include "fit/laws/fit_timing.h"

namespace occupipe {

// Whether some rows of the curve say so, and the correction applies (barriers hold warps together).
bool tells_drift(const Curve& curve, InstructionKind kind);

// What λ and Λ are before any fit: the least cycles per instruction and the least cycles per step
// of any place, by slopes over depth; nullopt without two depths anywhere.
std::optional<TimingFit> first_guess(const Curve& curve);

// By point: the time that the warps would have taken together over the time that the run took, at
// most 1. A core with n of its W warps running completes r(n) = n·c / S(n) instructions per cycle,
// S(n) = max(Λ(n), n·c·λ) the law's step; the work done is ∫ r(n(t)) dt, and with all W running it
// takes ∫ r(n(t)) / r(W) dt. nullopt for a point that says nothing, or whose warps do not spread
// evenly over `schedulers` of them (then the fuller ones end later without any drift).
//
// Warps that take turns start and stop within one step of each other, and so much is no drift;
// where they drift it is not known how much of a step is: all of it, or the share of the warps.
enum class StepOfTurns { whole, share_of_warps };
std::vector<std::optional<double>> together_over_measured(const Curve& curve, const TimingFit& fit,
                                                          int schedulers,
                                                          StepOfTurns turns = StepOfTurns::whole);

// Whether warps stop together wherever they spread evenly over some number of schedulers, which the
// placements or else the stops themselves tell: then those of fuller schedulers stop later because
// of that alone, and nothing drifts.
bool stops_are_the_placements(const Curve& curve, const TimingFit& guess);

// λ from the windows in which all warps ran, at places with half as much work again as latency:
// the median of cycles per instruction over the shapes whose windows are known best. Its standard
// error is their scatter with Student's factor, and no less than what is not known of the warps'
// ways, nor than a part in a thousand. What the loop and the checkpoints take is taken out, of the
// latter half into the error. nullopt with fewer than three such places.
std::optional<Estimate> cpi_of_windows(const Curve& curve, const TimingFit& fit, int schedulers);

// The curve with these times in the place of the measured ones. What was reckoned is uncertain by a
// tenth of the difference. A start skew is part of n(t), and no longer the law's concern. Points
// that say nothing stay as they are.
Curve as_if_together(const Curve& curve, const std::vector<std::optional<double>>& factors);

}  // namespace occupipe
