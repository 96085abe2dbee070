// SPDX-License-Identifier: MIT
// λ and Λ of one instruction from its measured curve: a joint robust fit of the boat-hull law over
// all shapes and depths (docs/background/fitting.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/estimate.h"
#include "core/instruction.h"
#include "fit/curves/curve.h"

namespace occupipe {

struct TimingFitOptions {
    // Cycles of a kernel that runs no instruction at all, where known from elsewhere: then one
    // depth is enough.
    std::optional<double> known_overhead_cycles;
    // Height of a drift to and fro that the run as a whole shows, where this curve alone may be too
    // short to (fit/laws/wandering.h); 0 = none is known.
    double wandering = 0;
    // Numbers of schedulers to try as the period of a staircase.
    std::vector<int> schedulers{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    // Terms that the fit may add to the plain law where the data ask for them.
    bool allow_group_overhead = true;
    bool allow_contention = true;
    bool allow_knee = true;
};

// How far the law misses the data beyond what their repetitions' spread explains.
struct Misfit {
    double relative_size = 0;      // root mean square
    std::optional<double> runs_z;  // of the runs test over warps in flight, when it speaks
};

// What the chosen law has besides λ and Λ; absent where it has no such term.
struct TimingTerms {
    std::optional<Estimate> overhead;        // T0 [cycles]; absent when given from outside
    std::optional<Estimate> group_overhead;  // [cycles per concurrent group]
    std::optional<Estimate>
        contention;                // h: growth of Λ [cycles per further instruction in flight]
    std::optional<Estimate> knee;  // q: at the ridge the curve lies 2^q above the corner
    // What count, comparison and branch of the timed loop cost one iteration of one warp: cycles
    // that they lengthen its chain by, and core cycles where the throughput is limited. Only where
    // loop bodies of two lengths were measured; λ and Λ are then without them.
    std::optional<Estimate> loop_latency;
    std::optional<Estimate> loop_cpi;
    // Growth of log time over the run that the law's residuals show against the points' places,
    // taken out of λ and Λ, which hold for its middle.
    std::optional<Estimate> drift;
};

// What the curve says of copies of the subsystem, and of schedulers in front of it.
struct ScopeEvidence {
    int schedulers = 1;  // copies of the subsystem that share λ; 1 = the data show no staircase
    // Numbers of copies that the curve would have shown: some places on its plateau have warps that
    // so many schedulers cannot share evenly. Empty without a plateau.
    std::vector<int> visible_copies;
    // Schedulers that share one subsystem, which serves them in turn; 1 = this does not show. Their
    // issue ports' common limit [warp-instructions per cycle per core]; absent where none shows.
    int sharing_schedulers = 1;
    std::optional<Estimate> port_limit;
    // Copies fit better, but not clearly better than one unit that as many schedulers share.
    bool may_be_turns = false;
    // Of copies: time of an issue port over that of a copy where both are free (1 = copies alone;
    // below it one unit behind ports fits as well). Absent without copies, or where it is unknown.
    std::optional<double> port_share;
    // Numbers of copies that fit alike, with the one that was chosen; of several none is known.
    std::vector<int> copies_alike;
};

// The law beside the points.
struct LawResiduals {
    std::vector<double> predicted;     // cycles, by point of the curve
    std::vector<double> aside_cycles;  // what the loop itself and the start skew add to them
    std::vector<double> residuals;     // log(predicted / measured) in standard errors, by point
    double residual_scale = 0;         // robust; 1 = as the repetitions' spread promises
    int outlying_points = 0;           // beyond five standard errors
    std::optional<Misfit> misfit;      // only when significant
};

struct TimingFit : TimingTerms, ScopeEvidence, LawResiduals {
    std::string subject;
    bool ok = false;
    std::string reason;  // why there is no result; empty when ok

    Estimate cpi;      // λ per core
    Estimate latency;  // Λ of one instruction alone

    // Where the bodies differ by more than the loop around them, which stays unknown: half of what
    // that leaves open of λ and Λ, relative, of the one that is known less well; else 0.
    double bodies_apart = 0;

    // The least cycles per instruction of any place, three standard errors above what was measured:
    // so fast the core was, whatever the law. Absent without two depths at some place.
    std::optional<double> reached_cpi;

    // By point: the time of the warps together over the measured one, where they drifted apart and
    // the rows say how (fit/laws/drift.h); empty where nothing was reckoned.
    std::vector<std::optional<double>> together;

    // Height of a drift to and fro that residuals show in the order of measuring, relative to the
    // times; 0 where none shows.
    double wandering = 0;
    // What stands in the errors of λ and Λ for disturbances that move all points alike (a drift,
    // delays, starts that differ), relative: it stays whatever else is found of either.
    double common_error = 0;

    std::vector<std::string> notes;
};

// The curve as it would be without the timed loop's own cost, with all warps starting at once and
// without a drift over the run, as far as the fit tells: one straight line over depth at every
// place.
Curve steps_alone(const Curve& curve, const TimingFit& fit);

// Where places have repetitions of two kinds (or times of two states), the longer `factor` times
// the shorter, it is unknown whose λ or Λ this is: two standard errors reach from either to the
// other, and it is doubtful.
void widen_by_two_kinds(double factor, Doubt::Kind kind, Estimate& e);

TimingFit fit_timing(const Curve& curve, InstructionKind kind,
                     const TimingFitOptions& options = {});

}  // namespace occupipe
