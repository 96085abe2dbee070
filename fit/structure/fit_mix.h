// SPDX-License-Identifier: MIT
// Do two instructions share a subsystem, and is there a common issue limit? The three laws of
// docs/background/pipeline-model.md, "Mixes", and what is between two of them, compared with the
// measured throughput of a mix over β.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/estimate.h"
#include "fit/curves/curve.h"

namespace occupipe {

// The fourth lies between the first two: of the shorter instruction's time a share stands in the
// way of the longer one's (a common port, a unit that both need for a part of their time).
enum class MixLaw { one_subsystem, two_subsystems, two_with_issue_limit, partial_overlap };
inline constexpr std::size_t mix_law_count = 4;
std::string_view to_string(MixLaw law);

// Throughput of type 1 at one occupancy, from the slope of time over depth.
struct MixPoint {
    int beta = 1;
    double in_flight = 1;       // warps times chains
    double per_cycle = 0;       // instructions of type 1 per cycle per core
    double relative_error = 0;  // standard error
};

// What is known about each of the two instructions alone.
struct MixPartner {
    std::optional<Estimate> cpi;
    std::optional<double> latency;
};

struct MixFit {
    std::string first;
    std::string second;
    bool ok = false;
    std::string reason;  // why there is no verdict at all; empty when ok

    std::vector<MixPoint> points;
    std::array<std::optional<double>, mix_law_count> criterion;  // AICc by law
    std::array<std::vector<double>, mix_law_count> predicted;    // per_cycle, by law and point
    MixLaw best = MixLaw::one_subsystem;
    double margin = 0;  // AICc of the runner-up minus the best's
    // Whether one subsystem or two is decided, and by how much; the issue limit aside.
    std::optional<bool> shared;  // absent: undecided
    double shared_margin = 0;
    // Where partial overlap wins: share of the shorter one's time that is hidden behind the longer
    // one's, 0 (one subsystem) to 1 (two). Then `shared` stays undecided.
    std::optional<Estimate> overlap;
    // No law of whole subsystems comes nearer than so much, relative and beyond three standard
    // errors, to every point: then the pair is neither one subsystem nor two.
    double missed = 0;
    // Residuals of the best law, in errors; those of the instructions' own λ count as well, with
    // the errors that they have alone and 1 %. Near one where the law holds.
    double scale = 0;
    // Fitted when the limit shows; else, when two subsystems overlap, the lower bound that the
    // highest total throughput gives.
    std::optional<Estimate> issue_limit;
    std::vector<std::string> notes;
};

// Difference of information criteria below which two laws count as equally good (Burnham and
// Anderson, 2002, section 2.6).
inline constexpr double undecided_margin = 2;

// `curves` hold one mix's curve per β. `highest_reached`: the highest throughput that any
// instruction or mix of the core reaches, which no issue limit can be below; 0 when unknown.
MixFit fit_mix(const std::string& first, const std::string& second,
               std::span<const Curve* const> curves, const MixPartner& first_alone,
               const MixPartner& second_alone, double highest_reached);

}  // namespace occupipe
