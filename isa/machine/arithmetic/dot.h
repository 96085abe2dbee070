// SPDX-License-Identifier: MIT
// Sums of products as matrix instructions form them: exactly, rounded once.
// The hardware aligns and cuts the summands in ways that differ between generations and are not
// documented; where the exact sum fits the result's format the two agree, else not always.
#pragma once

#include <array>
#include <cstdint>

#include "isa/machine/arithmetic/binary32.h"
#include "isa/machine/lanes.h"

namespace occupipe::isa::arithmetic {

// Adds up finite binary64 without loss, as a sum of numbers that do not overlap (Shewchuk 1997); at
// most `capacity` of them. Nothing may overflow.
class ExactSum {
public:
    void add(double value) {
        int kept = 0;
        for (int i = 0; i < count_; ++i) {
            const double other = part_[static_cast<std::size_t>(i)];
            const double sum = value + other;
            const double shift = sum - value;
            const double rest = (value - (sum - shift)) + (other - shift);
            if (rest != 0) part_[static_cast<std::size_t>(kept++)] = rest;
            value = sum;
        }
        part_[static_cast<std::size_t>(kept++)] = value;
        count_ = kept;
    }

    // The sum to odd: ready to be rounded to a shorter format.
    double to_odd() const {
        double value = 0, rest = 0;
        for (int i = count_ - 1; i >= 0; --i) {
            const double other = part_[static_cast<std::size_t>(i)];
            const double sum = value + other;
            const double lost = other - (sum - value);
            value = sum;
            if (lost != 0) {
                rest = lost;  // the parts below cannot turn its sign
                break;
            }
        }
        return arithmetic::to_odd(value, rest);
    }

private:
    static constexpr int capacity = 40;
    std::array<double, capacity> part_{};
    int count_ = 0;
};

// Adds up, and says whether anything was lost on the way; infinities and NaNs count as loss.
struct WatchedSum {
    double value;
    bool lost = false;

    OCCUPIPE_INLINE void add(double summand) {
        const double sum = value + summand;
        const double shift = sum - value;
        const double rest = (value - (sum - shift)) + (summand - shift);
        lost |= rest != 0;
        value = sum;
    }
};

}  // namespace occupipe::isa::arithmetic
