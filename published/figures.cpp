// SPDX-License-Identifier: MIT
#include "published/figures.h"

#include <algorithm>
#include <cmath>

#include "core/statistics.h"

namespace occupipe::analysis {
Combined combine(std::span<const SourceFigure> figures, const Spread& spread,
                 bool reference_first) {
    constexpr double prior_sources = 3;
    std::vector<double> all, references;
    for (const SourceFigure& one : figures) {
        all.push_back(one.value);
        if (one.reference) references.push_back(one.value);
    }
    Combined found;
    found.reference = reference_first && !references.empty();
    found.value = median(found.reference ? references : all);
    const double tau = std::max(spread.relative * found.value, spread.cycles);
    double squares = prior_sources * tau * tau;
    for (const double value : all) squares += (value - found.value) * (value - found.value);
    const double count = static_cast<double>(all.size());
    found.std_error = std::sqrt(squares / (prior_sources + count - 1)) * std::sqrt(1 + 1 / count);
    return found;
}

}  // namespace occupipe::analysis
