// SPDX-License-Identifier: MIT
// What makes λ and Λ less sure than the scatter of the points: one entry per cause, added up once.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/estimate.h"
#include "fit/laws/fit_timing.h"

namespace occupipe {

struct ErrorCause {
    struct Effect {
        double error = 0;         // in cycles, of the value as the law has it
        double least = 0;         // below which no error is, whatever the other causes [cycles]
        double factor = 1;        // on the value, and on its errors
        double bound_factor = 1;  // on an upper bound
        std::optional<Doubt> doubt;
    };

    std::string_view name;  // of the error term
    Effect cpi;
    Effect latency;
    double common = 0;  // of it, what moves all points alike, relative
    std::string note;   // on the curve; empty: none
};

// A cause that moves λ and Λ of `law` by the same share.
ErrorCause cause_of_both(std::string_view name, double share, const TimingFit& law);

// Puts all of them into the fit's values, errors, doubts and notes. The errors of different causes
// add up in quadrature, and factors multiply: what the causes are made of is the law as it was
// before, so that their order means nothing but the order of the notes.
void apply_causes(std::span<const ErrorCause> causes, TimingFit& fit);

}  // namespace occupipe
