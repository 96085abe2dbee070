// SPDX-License-Identifier: MIT
// One estimate from those of several machines.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/estimate.h"

namespace occupipe {

struct Pooled {
    Estimate estimate;
    double between = 0;  // standard deviation between machines, beyond their own errors
    double lowest = 0;
    double highest = 0;
    std::size_t machines = 0;  // that determine the parameter
    // Which of the estimates are bounds that a machine's value or the pooled one lies beyond, by
    // more than three standard errors (15 % where the error is unknown); of bounds alone, lower
    // ones above the upper one that is used.
    std::vector<std::size_t> contradicting;
};

// The random-effects mean over the machines that determine it (R. DerSimonian and N. Laird,
// "Meta-analysis in clinical trials", 1986): weights 1/(standard error² + variance between
// machines); its standard error contains both. Where a machine's error is unknown (or 0, which no
// measurement has) it is the plain mean: its standard error is that of the values' spread, and
// unknown where they are equal or agree better than the known errors allow. Bounds that no machine
// improves on become the tightest one. `estimates` is not empty.
Pooled pool(std::span<const Estimate> estimates);

// "λ of 3 machines: 0.25 to 0.26, 1.2 % between them"; nothing for fewer than two.
std::string spread_note(const char* symbol, const Pooled& pooled);

}  // namespace occupipe
