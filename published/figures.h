// SPDX-License-Identifier: MIT
// One number from what several sources say of it: their median, or the reference's, and how far a
// further source would be from that. One model for all that a kind measures:
//
//   s² = (ν τ² + Σ (xᵢ − m)²) / (ν + n − 1),   standard error = s √(1 + 1/n)
//
// τ is the kind's spread between sources (published/shelf.yaml), ν = 3 the sources that it counts
// as. One source alone has √2 τ.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace occupipe::analysis {

// What one source says: the mean of its figures.
struct SourceFigure {
    double value = 0;
    std::string source;  // id
    std::string device;  // as the source names it
    // Of the vendor, which the value is where the kind has a reference.
    bool reference = false;
};

struct Spread {
    double relative = 0;
    double cycles = 0;  // at least
};

struct Combined {
    double value = 0;
    double std_error = 0;
    bool reference = false;  // the value is the reference's
};

// Of at least one figure.
Combined combine(std::span<const SourceFigure> figures, const Spread& spread, bool reference_first);

}  // namespace occupipe::analysis
