// SPDX-License-Identifier: MIT
#include "fit/laws/loop_bodies.h"

#include <algorithm>
#include <cmath>

namespace occupipe {
namespace {

// Instructions are counted, what each takes is not known as well.
constexpr double room = 1.25;
// Cycles until the instruction behind a taken branch is there.
constexpr double fetch = 16;
// Where rows count nothing.
constexpr double few_instructions = 4;
constexpr double few_stall_cycles = 32;

}  // namespace

double most_loop_latency(const Curve& curve) {
    return room * curve.other_stall.value_or(few_stall_cycles) + fetch;
}

double most_loop_cpi(const Curve& curve, double cpi) {
    return room * curve.other_instructions.value_or(few_instructions) * std::min(cpi, 1.0);
}

TwoWays two_ways(double value, const Estimate& cost, double most, double longest, double shortest) {
    constexpr double clear = 3;
    constexpr double too_little = 0.003;  // to matter to λ or Λ
    const double error = clear * cost.std_error.value_or(0);
    const double by_long = value + cost.value / longest;
    const double by_short = value + cost.value / shortest;
    TwoWays out;
    out.high = std::max(by_long, by_short);
    out.low = std::max(std::min(by_long - most / longest, by_short - most / shortest), 0.0);
    const auto [less, more] = std::minmax(by_long, by_short);
    out.apart = more / less - 1;
    out.possible = out.apart < too_little || (cost.value >= -error && cost.value <= most + error);
    return out;
}

}  // namespace occupipe
