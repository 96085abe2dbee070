// SPDX-License-Identifier: MIT
// Drawings that are no curves: dependence graphs and bars on a time axis.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/kernel.h"
#include "tests/papers/experiments.h"

namespace occupipe::papers {

// One iteration of each loop: a row per level of dependence, arrows from a result to its users,
// dashed to those of a later iteration.
std::string graph_svg(const Kernel& kernel);

// A block per named list, a bar per access, beside one another.
std::string accesses_svg(const std::vector<std::pair<std::string, std::vector<Access>>>& lists);

}  // namespace occupipe::papers
