// SPDX-License-Identifier: MIT
// Whether time grows in proportion to depth, but for a launch: where a clock sinks under load long
// runs take more than their share.
#pragma once

#include <span>

#include "fit/curves/curve.h"

namespace occupipe {

// By how much a step of the longest run of a place takes longer than one of its shortest, relative:
// the most of any neighbouring places, where that is clear of their scatter; else 0. `once`: cycles
// that a run of each point pays once, as far as known; what is not only makes it smaller.
double disproportion(const Curve& curve, std::span<const double> once);

}  // namespace occupipe
