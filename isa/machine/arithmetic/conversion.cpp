// SPDX-License-Identifier: MIT
#include "isa/machine/arithmetic/conversion.h"

#include <algorithm>

namespace occupipe::isa::arithmetic {

std::uint64_t converted(std::uint64_t pattern, Format from, Format to, Rounding rounding) {
    const std::uint64_t sign = (pattern & from.sign()) != 0 ? to.sign() : 0;
    if (from.is_nan(pattern)) {
        if (to.bits() != 64) return to.nan;
        const std::uint64_t payload = pattern & ((std::uint64_t{1} << from.fraction_bits) - 1);
        return sign | to.infinity() | to.quiet() |
               payload << (to.fraction_bits - from.fraction_bits);
    }
    if (from.is_infinite(pattern)) return sign | to.infinity();
    return round(exact(pattern, from), to, rounding);
}

std::uint64_t integral(std::uint64_t pattern, Format format, Rounding rounding) {
    if (format.is_nan(pattern)) return nan_of(pattern, pattern, pattern, format);
    const std::uint64_t magnitude = pattern & ~format.sign();
    const auto whole = static_cast<std::uint64_t>(format.bias() + format.fraction_bits)
                       << format.fraction_bits;
    if (magnitude >= whole) return pattern;
    const Exact value = exact(pattern, format);
    const SignedWide integer = to_integer(value, rounding);
    const auto digits = static_cast<Wide>(integer < 0 ? -integer : integer);
    return round({.negative = value.negative, .exponent = 0, .digits = digits}, format,
                 Rounding::nearest);
}

std::uint64_t to_integer(std::uint64_t pattern, Format format, IntegerType type, Rounding rounding,
                         bool nan_to_zero) {
    const int value_bits = type.is_signed ? type.bits - 1 : type.bits;
    const SignedWide most = (SignedWide{1} << value_bits) - 1;
    const SignedWide least = type.is_signed ? -most - 1 : 0;
    if (format.is_nan(pattern)) {
        const SignedWide top = SignedWide{1} << (type.bits - 1);
        return nan_to_zero ? 0 : static_cast<std::uint64_t>(type.is_signed ? -top : top);
    }
    if (format.is_infinite(pattern)) {
        return static_cast<std::uint64_t>((pattern & format.sign()) != 0 ? least : most);
    }
    const SignedWide integer = to_integer(exact(pattern, format), rounding);
    return static_cast<std::uint64_t>(std::clamp(integer, least, most));
}

std::uint64_t from_integer(std::uint64_t value, IntegerType type, Format format,
                           Rounding rounding) {
    const int unused = 64 - type.bits;
    if (type.is_signed) {
        return round(exact(static_cast<std::int64_t>(value << unused) >> unused), format, rounding);
    }
    return round(exact(value << unused >> unused), format, rounding);
}

}  // namespace occupipe::isa::arithmetic
