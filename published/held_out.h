// SPDX-License-Identifier: MIT
// How good the shelf's numbers are: every published figure against what the other sources predict
// for it (docs/background/shelf.md has the table).
#pragma once

#include <string>
#include <vector>

#include "published/shelf.h"

namespace occupipe::analysis {

struct HeldOut {
    std::string kind;  // "arithmetic", "caches", "DRAM"
    std::string capability, instruction, source;
    Figure figure = Figure::cpi;
    double published = 0;  // what was left out
    double predicted = 0, std_error = 0;
    bool alone =
        false;  // nobody else measured it: other architectures or instructions stand for it

    double relative_error() const;
    bool within_two_errors() const;
};

// λ and Λ of every row, compute capability and source; and the share of the peak that a card's
// kernels reach in device memory, from the other cards.
std::vector<HeldOut> held_out(const Shelf& shelf, const Published& published);

struct HeldOutSummary {
    std::string kind;
    std::size_t values = 0, alone = 0;
    double median_error = 0;  // relative
    double within = 0;        // share within two standard errors
};
// A row per kind, "all" last.
std::vector<HeldOutSummary> summary_of(const std::vector<HeldOut>& all);

}  // namespace occupipe::analysis
