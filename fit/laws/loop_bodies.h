// SPDX-License-Identifier: MIT
// Loop bodies of two lengths: what the loop around the steps can cost, and what is left of λ or Λ
// where the two kernels differ by more than that.
#pragma once

#include "core/estimate.h"
#include "fit/curves/curve.h"

namespace occupipe {

// What count, comparison and branch can cost one iteration of one warp at most, by what the rows
// count [cycles]: of the warp's own chain, and of the core where its throughput is limited, with
// instructions of λ = cpi.
double most_loop_latency(const Curve& curve);
double most_loop_cpi(const Curve& curve, double cpi);

// One of λ and Λ by either body, each with a loop that costs from nothing to the most it can.
struct TwoWays {
    bool possible = true;  // the fitted cost is such a loop's, within three standard errors
    double low = 0;
    double high = 0;
    double apart = 0;  // a step of the one body over the other's, less one

    double middle() const { return (high + low) / 2; }
    double half() const { return (high - low) / 2; }
};

// `value` as fitted with `cost` per iteration, of `longest` and `shortest` instructions.
TwoWays two_ways(double value, const Estimate& cost, double most, double longest, double shortest);

}  // namespace occupipe
