// SPDX-License-Identifier: MIT
// What a curve shows without any law: no instruction is faster than λ and none returns
// before Λ, so every step that was measured is a bound on both.
#pragma once

#include <optional>

#include "fit/curves/curve.h"
#include "fit/laws/fit_timing.h"

namespace occupipe {

// The greatest λ per core and the greatest Λ that the raw steps allow, each with three standard
// errors of the step that says so [cycles], where that may be believed (believable_steps); absent
// without two depths at some place.
struct RawBounds {
    std::optional<double> cpi;      // the least cycles per instruction of any place
    std::optional<double> latency;  // the least cycles per step of any place
    // What the ends of the curve allow, two standard errors above what was measured: the least that
    // an upper bound drawn from there may say.
    std::optional<double> right_end;  // cycles per instruction with the most in flight
    std::optional<double> left_end;   // cycles per step with the fewest
};

RawBounds raw_bounds(const Curve& steps, const TimingFit& fit);

// Sets the fit against them. A bound becomes what the raw curve says. Where cycles per instruction
// scatter beyond the ridge by several percent (warps drift apart because the scheduler is greedy,
// uneven placements, an unknown number of copies), all of it above the truth, λ is at most what was
// reached; where they scatter less, but to one side, λ's error covers the way down to it.
// `steps`: the curve without the loop's own cost (steps_alone).
void check_plateau(const Curve& steps, InstructionKind kind, TimingFit& fit);

}  // namespace occupipe
