// SPDX-License-Identifier: MIT
// How the schedulers choose among their warps, from the order in which warps stopped
// (core/running_warps.h), at places where the unit had more work than it could do.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "fit/curves/curve.h"
#include "fit/laws/fit_timing.h"

namespace occupipe {

enum class WarpOrder {
    take_turns,      // all stop together: loose round robin
    oldest_first,    // greedy then oldest, or oldest first: stops alone do not tell these apart
    youngest_first,  // the reverse
    mixed,           // warps stop apart in no order of their age
};

std::string_view to_string(WarpOrder order);

struct WarpChoice {
    WarpOrder order = WarpOrder::take_turns;
    double confidence = 0;  // share of the places that say so, as if one more said otherwise
    int places = 0;         // that say anything
};

struct WarpChoiceEvidence {
    const Curve* curve = nullptr;
    const TimingFit* fit = nullptr;
};

// nullopt: unknown, because fewer than four places tell, or fewer than 7 in 10 of them agree.
// `schedulers`: of a core.
std::optional<WarpChoice> warp_choice(std::span<const WarpChoiceEvidence> evidence, int schedulers);

}  // namespace occupipe
