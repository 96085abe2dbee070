// SPDX-License-Identifier: MIT
// binary32 operations of one lane, in four directions, without the host's rounding mode. Sums and
// products are taken in binary64, whose last digit says whether anything was lost ("rounded to
// odd", Boldo and Melquiond 2008), and rounded once from there. Loops over these vectorise.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "isa/machine/arithmetic/exact.h"
#include "isa/machine/lanes.h"

namespace occupipe::isa::arithmetic {

OCCUPIPE_INLINE float as_float(std::uint32_t pattern) { return std::bit_cast<float>(pattern); }
OCCUPIPE_INLINE std::uint32_t as_bits(float value) { return std::bit_cast<std::uint32_t>(value); }
OCCUPIPE_INLINE double as_double(std::uint64_t pattern) { return std::bit_cast<double>(pattern); }
OCCUPIPE_INLINE std::uint64_t as_bits(double value) { return std::bit_cast<std::uint64_t>(value); }

inline constexpr std::uint32_t nan32 = 0x7fffffff;

OCCUPIPE_INLINE std::uint32_t flushed(std::uint32_t pattern) {
    return (pattern & 0x7f800000) == 0 ? pattern & 0x80000000 : pattern;
}

OCCUPIPE_INLINE std::uint32_t canonical(std::uint32_t pattern) {
    return (pattern & 0x7fffffff) > 0x7f800000 ? nan32 : pattern;
}

// To [0, 1]; a NaN and both zeros become +0.
OCCUPIPE_INLINE std::uint32_t saturated(std::uint32_t pattern) {
    const float value = as_float(pattern);
    const std::uint32_t capped = value > 1.0F ? 0x3f800000 : pattern;
    return value > 0.0F ? capped : 0;
}

// `value`, next to `rest` that was lost in it, with an odd last digit where anything was lost.
OCCUPIPE_INLINE double to_odd(double value, double rest) {
    const bool lost = rest < 0 || rest > 0;  // not for a NaN
    const std::uint64_t pattern = as_bits(value);
    const bool away = (rest > 0) == (value > 0);
    const std::uint64_t moved = away ? pattern + 1 : pattern - 1;
    return as_double(lost && (pattern & 1) == 0 ? moved : pattern);
}

// The sum to odd. The error of an addition is exact where nothing overflows (Knuth, TAOCP 2, 4.2.2
// theorem B); binary64 is wide enough for that with operands that come from binary32.
OCCUPIPE_INLINE double sum_to_odd(double a, double b) {
    const double sum = a + b;
    const double part = sum - a;
    return to_odd(sum, (a - (sum - part)) + (b - part));
}

template <Rounding rounding>
OCCUPIPE_INLINE std::uint32_t narrowed(double value) {
    const auto nearest = static_cast<float>(value);
    const std::uint32_t pattern = as_bits(nearest);
    if constexpr (rounding == Rounding::nearest) {
        return pattern;
    } else {
        const double back = static_cast<double>(nearest);
        const bool negative = value < 0;
        bool wrong = false;   // on the other side of the exact value
        bool larger = false;  // in magnitude is what it should be
        if constexpr (rounding == Rounding::down) {
            wrong = back > value;
            larger = negative;
        } else if constexpr (rounding == Rounding::up) {
            wrong = back < value;
            larger = !negative;
        } else {
            wrong = negative ? back < value : back > value;
        }
        return wrong ? (larger ? pattern + 1 : pattern - 1) : pattern;
    }
}

// What a sum of two zeros, or of two numbers that cancel, is when rounding down.
template <Rounding rounding>
OCCUPIPE_INLINE std::uint32_t with_zero_sign(std::uint32_t pattern, double a, double b) {
    if constexpr (rounding == Rounding::down) {
        const bool positive = !std::signbit(a) && !std::signbit(b);
        return pattern == 0 && a == -b && !positive ? 0x80000000 : pattern;
    } else {
        return pattern;
    }
}

// Canonical NaNs; denormals kept; not saturated.
template <Rounding rounding>
OCCUPIPE_INLINE std::uint32_t added(std::uint32_t a, std::uint32_t b) {
    if constexpr (rounding == Rounding::nearest) {
        return canonical(as_bits(as_float(a) + as_float(b)));
    } else {
        const double left = as_float(a);
        const double right = as_float(b);
        const std::uint32_t sum = narrowed<rounding>(sum_to_odd(left, right));
        return canonical(with_zero_sign<rounding>(sum, left, right));
    }
}

// Times a power of two (FMUL.D2, .M4), which rounds no more than once.
template <Rounding rounding>
OCCUPIPE_INLINE std::uint32_t multiplied(std::uint32_t a, std::uint32_t b, double scale = 1) {
    if constexpr (rounding == Rounding::nearest) {
        if (scale == 1) return canonical(as_bits(as_float(a) * as_float(b)));
    }
    const double exact = static_cast<double>(as_float(a)) * static_cast<double>(as_float(b));
    return canonical(narrowed<rounding>(exact * scale));
}

// Without a fused operation of the host.
template <Rounding rounding>
OCCUPIPE_INLINE std::uint32_t fused(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    const double both = static_cast<double>(as_float(a)) * static_cast<double>(as_float(b));
    const double last = as_float(c);
    const std::uint32_t sum = narrowed<rounding>(sum_to_odd(both, last));
    return canonical(with_zero_sign<rounding>(sum, both, last));
}

// The minimum where `least` is all ones, the maximum where it is 0: a number wins over a NaN, -0 is
// less than +0 (PTX, min and max).
OCCUPIPE_INLINE std::uint32_t extreme(std::uint32_t a, std::uint32_t b, std::uint32_t least) {
    const auto key = [](std::uint32_t pattern) {  // ordered as integers
        const auto sign = static_cast<std::uint32_t>(static_cast<std::int32_t>(pattern) >> 31);
        return static_cast<std::int32_t>(pattern ^ sign >> 1);
    };
    const std::uint32_t less = key(b) < key(a) ? 0xffffffff : 0;
    const std::uint32_t number = (less ^ ~least) != 0 ? b : a;
    const std::uint32_t of_numbers = (b & 0x7fffffff) > 0x7f800000 ? a : number;
    return (a & 0x7fffffff) > 0x7f800000 ? canonical(b) : of_numbers;
}
OCCUPIPE_INLINE std::uint32_t lesser(std::uint32_t a, std::uint32_t b) {
    return extreme(a, b, 0xffffffff);
}
OCCUPIPE_INLINE std::uint32_t greater(std::uint32_t a, std::uint32_t b) { return extreme(a, b, 0); }

// The sixteen comparisons, as they are encoded: bit 0 holds where a < b, bit 1 where a = b, bit 2
// where a > b, bit 3 where one of them is a NaN.
template <typename Real>
OCCUPIPE_INLINE bool compared(Real a, Real b, unsigned code) {
    const unsigned outcome = a < b ? 1U : a == b ? 2U : a > b ? 4U : 8U;
    return (code & outcome) != 0;
}

}  // namespace occupipe::isa::arithmetic
