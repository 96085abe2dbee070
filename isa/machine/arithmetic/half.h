// SPDX-License-Identifier: MIT
// Packed halves: binary16 and bfloat16, one in the lower 16 bits of a word (loops over words of one
// size vectorise). Operations are carried out to odd in a longer format and rounded once; both are
// so much shorter that this is exact rounding.
#pragma once

#include "isa/machine/arithmetic/binary32.h"

namespace occupipe::isa::arithmetic {

enum class Half : std::uint8_t { ieee, brain };  // binary16, bfloat16

inline constexpr std::uint32_t nan16 = 0x7fff;  // of both

// Both sides are computed: a choice that the compiler makes a branch of keeps loops from becoming
// vector code.
OCCUPIPE_INLINE std::uint32_t pick(bool first, std::uint32_t a, std::uint32_t b) {
    const std::uint32_t mask = 0 - std::uint32_t{first};
    return (a & mask) | (b & ~mask);
}

// Exactly. A NaN becomes one of binary32.
template <Half half>
OCCUPIPE_INLINE float widened(std::uint32_t pattern) {
    if constexpr (half == Half::brain) {
        return as_float(std::uint32_t{pattern} << 16);
    } else {
        const std::uint32_t sign = std::uint32_t{pattern & 0x8000U} << 16;
        const std::uint32_t magnitude = (pattern & 0x7fffU) << 13;
        // The exponent's bias differs by 112, that of infinity and NaNs by twice as much.
        const std::uint32_t normal = magnitude + (std::uint32_t{112} << 23);
        const std::uint32_t special = magnitude + (std::uint32_t{224} << 23);
        // Denormals by way of an integer: the host is slow with its own.
        const auto whole = static_cast<float>(static_cast<std::int32_t>(pattern & 0x3ffU));
        const std::uint32_t denormal = as_bits(whole * 0x1p-24F);
        const std::uint32_t finite = pick((pattern & 0x7c00U) == 0, denormal, normal);
        return as_float(sign | pick((pattern & 0x7c00U) == 0x7c00U, special, finite));
    }
}

// To nearest, from a number whose last digit is odd where something was lost before.
template <Half half>
OCCUPIPE_INLINE std::uint32_t halved(float value) {
    const std::uint32_t pattern = as_bits(value);
    const std::uint32_t magnitude = pattern & 0x7fffffff;
    const std::uint32_t sign = pattern >> 16 & 0x8000;
    std::uint32_t rounded = 0;
    if constexpr (half == Half::brain) {
        rounded = (magnitude + 0x7fff + (magnitude >> 16 & 1)) >> 16;
    } else {
        // Denormals of binary16 have their last digit where a number near 0.5 has it.
        const float denormal = as_float(magnitude) + 0.5F;
        const std::uint32_t small = as_bits(denormal) - 0x3f000000;
        const std::uint32_t normal =
            (magnitude - (std::uint32_t{112} << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
        const std::uint32_t finite = pick(normal > 0x7c00, 0x7c00, normal);
        rounded = pick(magnitude < 0x38800000, small, finite);
    }
    return pick(magnitude > 0x7f800000, nan16, sign | rounded);
}

// binary64 to binary32 with an odd last digit where something is lost, now or before.
OCCUPIPE_INLINE float narrowed_to_odd(double value) {
    const auto nearest = static_cast<float>(value);
    const std::uint32_t pattern = as_bits(nearest);
    const double rest = value - static_cast<double>(nearest);  // exact; NaN of infinities, kept out
    const double difference = std::isinf(nearest) ? (value > 0 ? -1.0 : 1.0) : rest;
    const bool lost = (difference < 0 || difference > 0) && !std::isinf(value);
    const bool away = (difference > 0) == (value > 0);
    return as_float(lost && (pattern & 1) == 0 ? (away ? pattern + 1 : pattern - 1) : pattern);
}

template <Half half>
OCCUPIPE_INLINE std::uint32_t halved(double to_odd) {
    return halved<half>(narrowed_to_odd(to_odd));
}

OCCUPIPE_INLINE std::uint32_t flushed_half(std::uint32_t pattern, Half half) {
    const unsigned exponent = half == Half::ieee ? 0x7c00 : 0x7f80;
    return static_cast<std::uint32_t>((pattern & exponent) == 0 ? pattern & 0x8000 : pattern);
}

// As of binary64, for numbers whose products and sums binary32 holds but for their last digits.
OCCUPIPE_INLINE float sum_to_odd(float a, float b) {
    const float sum = a + b;
    const float part = sum - a;
    const float rest = (a - (sum - part)) + (b - part);
    const std::uint32_t pattern = as_bits(sum);
    // Not for a zero or a NaN.
    const bool lost = (as_bits(rest) & 0x7fffffff) - 1 < 0x7f800000;
    // One up or down, as integers: up where the rest points away from zero; nothing if odd.
    const std::uint32_t step = 1 - 2 * ((as_bits(rest) ^ pattern) >> 31);
    const std::uint32_t even = (pattern & 1) - 1;
    return as_float(pattern + (pick(lost, step, 0) & even));
}

// binary16 in binary32: products are exact, and 24 digits are enough for a sum to be rounded twice
// (Figueroa 1995: 2 * 11 + 2). bfloat16 has binary32's exponents, so that it needs binary64.
template <Half half>
OCCUPIPE_INLINE std::uint32_t half_sum(std::uint32_t a, std::uint32_t b) {
    if constexpr (half == Half::ieee) return halved<half>(widened<half>(a) + widened<half>(b));
    return halved<half>(
        sum_to_odd(static_cast<double>(widened<half>(a)), static_cast<double>(widened<half>(b))));
}

template <Half half>
OCCUPIPE_INLINE std::uint32_t half_product(std::uint32_t a, std::uint32_t b) {
    if constexpr (half == Half::ieee) return halved<half>(widened<half>(a) * widened<half>(b));
    return halved<half>(static_cast<double>(widened<half>(a)) *
                        static_cast<double>(widened<half>(b)));
}

template <Half half>
OCCUPIPE_INLINE std::uint32_t half_fused(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    if constexpr (half == Half::ieee) {
        const float product = widened<half>(a) * widened<half>(b);
        return halved<half>(sum_to_odd(product, widened<half>(c)));
    }
    const double both =
        static_cast<double>(widened<half>(a)) * static_cast<double>(widened<half>(b));
    return halved<half>(sum_to_odd(both, static_cast<double>(widened<half>(c))));
}

// To [0, 1]; a NaN becomes +0.
template <Half half>
OCCUPIPE_INLINE std::uint32_t half_saturated(std::uint32_t pattern) {
    const float value = widened<half>(pattern);
    const std::uint32_t one = half == Half::ieee ? 0x3c00 : 0x3f80;
    const std::uint32_t capped = value > 1.0F ? one : pattern;
    return value > 0.0F ? capped : std::uint32_t{0};
}

// Negative numbers and -0 become +0, a NaN the canonical one.
template <Half half>
OCCUPIPE_INLINE std::uint32_t half_rectified(std::uint32_t pattern) {
    const float value = widened<half>(pattern);
    return value > 0.0F ? pattern : value != value ? nan16 : std::uint32_t{0};
}

// As of binary32 (a number wins over a NaN), or with `nan` the other way round.
template <Half half>
OCCUPIPE_INLINE std::uint32_t half_chosen(std::uint32_t a, std::uint32_t b, bool least, bool nan) {
    const std::uint32_t left = as_bits(widened<half>(a));
    const std::uint32_t right = as_bits(widened<half>(b));
    const bool any = (left & 0x7fffffff) > 0x7f800000 || (right & 0x7fffffff) > 0x7f800000;
    if (nan && any) return nan16;
    return halved<half>(as_float(least ? lesser(left, right) : greater(left, right)));
}

}  // namespace occupipe::isa::arithmetic
