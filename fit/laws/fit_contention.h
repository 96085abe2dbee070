// SPDX-License-Identifier: MIT
// Memory throughput against occupancy: latency grows with the warps that wait
// (docs/background/fitting.md).
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/estimate.h"
#include "fit/solver/contention_problem.h"

namespace occupipe {

// X(w) = min(w/Λ, B), X(w) = min(w/(Λ0 + h·w), B), and the latter with a rounded ridge.
enum class ContentionLaw { none, linear, linear_round };
inline constexpr std::size_t contention_law_count = 3;
std::string_view to_string(ContentionLaw law);

struct ContentionLawFit {
    bool ok = false;
    Estimate saturated;  // B
    Estimate unloaded;   // Λ0·B: warps that would saturate if latency did not grow
    Estimate growth;     // h·B: share of λ that each waiting warp adds to the latency
    Estimate knee;       // q
    std::vector<double> predicted;
    double mean_relative_error = 0;   // of the predictions, absolute
    std::optional<double> criterion;  // AICc
};

struct ContentionFit {
    std::string reason;  // why there is no result; empty when there is
    std::array<ContentionLawFit, contention_law_count> laws;
    ContentionLaw best = ContentionLaw::none;

    bool ok() const { return reason.empty(); }
    const ContentionLawFit& chosen() const { return laws[static_cast<std::size_t>(best)]; }
};

// Points without a spread of their own: errors come from the residuals.
ContentionFit fit_contention(std::span<const OccupancyPoint> points);

}  // namespace occupipe
