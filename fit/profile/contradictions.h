// SPDX-License-Identifier: MIT
// Input that contradicts itself: runs that disagree, units that change, rows that count twice.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/measurement.h"

namespace occupipe {

// At so many of the places with several repetitions these are of two kinds.
struct TwoKinds {
    // Where: everywhere, or with few or with many instructions in flight alone, so that the kinds
    // differ in Λ or in λ alone.
    enum class With { any, few, many } with = With::any;
    std::size_t places = 0;
    std::size_t of = 0;
    double factor = 1;  // the longer over the shorter, median
    // The same whatever is in flight, and no more than two states of a clock may be apart.
    bool one_factor = false;
};

struct Contradictions {
    // "fma.f32: a.json and b.json disagree by 12 % (median of 33 places)", and likewise for
    // repetitions of one place that differ by a factor no scatter explains, and for event times
    // shorter than the cycles that passed meanwhile. Empty when nothing contradicts anything.
    std::vector<std::string> notes;
    // By subject: two instructions or two devices may stand under its name.
    std::map<std::string, TwoKinds> two_kinds;
    // By subject: by how much two runs disagree at most, relative.
    std::map<std::string, double> disagreeing;
};
Contradictions contradictions(std::span<const MeasurementFile> files);

}  // namespace occupipe
