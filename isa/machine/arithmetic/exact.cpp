// SPDX-License-Identifier: MIT
#include "isa/machine/arithmetic/exact.h"

#include <algorithm>
#include <bit>

namespace occupipe::isa::arithmetic {
namespace {

int leading_digit(Wide value) {
    const auto high = static_cast<std::uint64_t>(value >> 64);
    if (high != 0) return 127 - std::countl_zero(high);
    return 63 - std::countl_zero(static_cast<std::uint64_t>(value));
}

// Dropped digits leave a one in the last place.
Wide shifted_right(Wide value, int count) {
    if (count <= 0) return value;
    if (count > 127) return value != 0;
    const Wide kept = value >> count;
    return kept << count == value ? kept : kept | 1;
}

// `count` digits off the end, rounded to the nearest even or in the direction.
Wide rounded_right(Wide value, int count, bool negative, Rounding rounding) {
    if (count <= 0) return value;
    const Wide kept = count > 127 ? 0 : value >> count;
    const Wide rest = count > 127 ? value : value - (kept << count);
    if (rest == 0) return kept;
    bool up = false;
    switch (rounding) {
        case Rounding::nearest: {
            if (count > 127) break;  // less than a half
            const Wide half = Wide{1} << (count - 1);
            up = rest > half || (rest == half && (kept & 1) != 0);
            break;
        }
        case Rounding::down:
            up = negative;
            break;
        case Rounding::up:
            up = !negative;
            break;
        case Rounding::zero:
            break;
    }
    return up ? kept + 1 : kept;
}

}  // namespace

Exact exact(std::uint64_t pattern, Format format) {
    const std::uint64_t fraction = pattern & ((std::uint64_t{1} << format.fraction_bits) - 1);
    const auto biased = static_cast<int>((pattern & ~format.sign()) >> format.fraction_bits);
    const std::uint64_t hidden = biased == 0 ? 0 : std::uint64_t{1} << format.fraction_bits;
    return {.negative = (pattern & format.sign()) != 0,
            .exponent = std::max(biased, 1) - format.bias() - format.fraction_bits,
            .digits = fraction | hidden};
}

Exact exact(std::int64_t value) {
    const auto pattern = static_cast<std::uint64_t>(value);
    return {.negative = value < 0, .exponent = 0, .digits = value < 0 ? 0 - pattern : pattern};
}

Exact exact(std::uint64_t value) { return {.negative = false, .exponent = 0, .digits = value}; }

std::uint64_t round(const Exact& value, Format format, Rounding rounding) {
    const std::uint64_t sign = value.negative ? format.sign() : 0;
    if (value.digits == 0) return sign;
    const int lowest = 1 - format.bias() - format.fraction_bits;  // exponent of the last digit
    const int top = value.exponent + leading_digit(value.digits);
    const int last = std::max(lowest, top - format.fraction_bits);
    Wide digits = last > value.exponent
                      ? rounded_right(value.digits, last - value.exponent, value.negative, rounding)
                      : value.digits << (value.exponent - last);
    if (digits == 0) return sign;
    // A carry into the next binade runs through the exponent by itself.
    const std::int64_t binade = last - lowest;
    const bool denormal = digits >> format.fraction_bits == 0;
    const auto infinity_exponent = std::int64_t{1} << format.exponent_bits;
    std::uint64_t pattern = static_cast<std::uint64_t>(digits);
    if (!denormal) {
        if (binade >= infinity_exponent - 2) {
            pattern = format.infinity();
        } else {
            pattern += static_cast<std::uint64_t>(binade) << format.fraction_bits;
        }
    }
    if (pattern >= format.infinity()) {
        const bool to_infinity = rounding == Rounding::nearest ||
                                 (rounding == Rounding::up && !value.negative) ||
                                 (rounding == Rounding::down && value.negative);
        pattern = to_infinity ? format.infinity() : format.infinity() - 1;
    }
    return sign | pattern;
}

Exact sum(const Exact& first, const Exact& second, Rounding rounding) {
    if (first.digits == 0 && second.digits == 0) {
        const bool negative =
            first.negative == second.negative ? first.negative : rounding == Rounding::down;
        return {.negative = negative};
    }
    if (first.digits == 0) return second;
    if (second.digits == 0) return first;
    // Both with their first digit in place 125: 20 digits or more are free below a product of two
    // binary64, so that what is jammed into the last one decides nothing but the direction.
    const auto normal = [](Exact value) {
        const int by = 125 - leading_digit(value.digits);
        value.digits <<= by;
        value.exponent -= by;
        return value;
    };
    Exact large = normal(first);
    Exact small = normal(second);
    if (small.exponent > large.exponent ||
        (small.exponent == large.exponent && small.digits > large.digits)) {
        std::swap(large, small);
    }
    small.digits = shifted_right(small.digits, large.exponent - small.exponent);
    if (large.negative == small.negative) {
        large.digits += small.digits;
        return large;
    }
    large.digits -= small.digits;
    if (large.digits == 0) return {.negative = rounding == Rounding::down};
    return large;
}

std::uint64_t nan_of(std::uint64_t a, std::uint64_t b, std::uint64_t c, Format format) {
    if (format.bits() == 64) {
        for (const std::uint64_t one : {a, b, c}) {
            if (format.is_nan(one)) return one | format.quiet();
        }
    }
    return format.nan;
}

std::uint64_t fused(std::uint64_t a, std::uint64_t b, std::uint64_t c, Format format,
                    Rounding rounding) {
    const std::uint64_t magnitude = ~format.sign();
    const bool negative = ((a ^ b) & format.sign()) != 0;
    if (format.is_nan(a) || format.is_nan(b) || format.is_nan(c)) return nan_of(a, b, c, format);
    if (format.is_infinite(a) || format.is_infinite(b)) {
        const bool zero = (a & magnitude) == 0 || (b & magnitude) == 0;
        const std::uint64_t infinite = format.infinity() | (negative ? format.sign() : 0);
        const bool opposed = format.is_infinite(c) && c != infinite;
        return zero || opposed ? format.nan : infinite;
    }
    if (format.is_infinite(c)) return c;
    const Exact left = exact(a, format);
    const Exact right = exact(b, format);
    const Exact both = {.negative = negative,
                        .exponent = left.exponent + right.exponent,
                        .digits = left.digits * right.digits};
    return round(sum(both, exact(c, format), rounding), format, rounding);
}

std::uint64_t product(std::uint64_t a, std::uint64_t b, Format format, Rounding rounding) {
    return fused(a, b, (a ^ b) & format.sign(), format, rounding);
}

std::uint64_t total(std::uint64_t a, std::uint64_t c, Format format, Rounding rounding) {
    const std::uint64_t one = static_cast<std::uint64_t>(format.bias()) << format.fraction_bits;
    return fused(a, one, c, format, rounding);
}

SignedWide to_integer(const Exact& value, Rounding rounding) {
    if (value.digits == 0) return 0;
    constexpr SignedWide limit = SignedWide{1} << 126;
    SignedWide integer = limit;
    if (value.exponent + leading_digit(value.digits) < 126) {
        integer = static_cast<SignedWide>(
            value.exponent >= 0
                ? value.digits << value.exponent
                : rounded_right(value.digits, -value.exponent, value.negative, rounding));
    }
    return value.negative ? -integer : integer;
}

}  // namespace occupipe::isa::arithmetic
