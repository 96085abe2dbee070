// SPDX-License-Identifier: MIT
// The order in which a sweep is measured: the most valuable points first, so that a run cut short
// at any moment has something complete; at random within a block, so that drift (temperature, other
// load) does not become the shape of a curve.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/kernel/sweep.h"

namespace occupipe::bench {

// Names of the blocks, the most valuable first.
std::vector<std::string_view> order_blocks();

// The block of a kernel's points: an index into order_blocks(). A rule on the row, so that a new
// row gets its place automatically.
std::size_t block_of(const KernelPlan& plan);

// All points of the sweep; the same sweep gives the same order.
std::vector<const PlannedPoint*> measuring_order(const SweepPlan& sweep);

// What a measurement file's context says about the order. Part of the journal's key, so that a
// journal of another order is not continued.
std::string order_text();

}  // namespace occupipe::bench
