// SPDX-License-Identifier: MIT
// Numbers without rounding, and rounded once, in every format and direction. Slow and plain: what
// the faster functions beside it are checked against, and what the rarer instructions use.
//   round({.negative = false, .exponent = -1, .digits = 3}, binary32, Rounding::nearest)  // 1.5
#pragma once

#include <cstdint>
#include <optional>

namespace occupipe::isa::arithmetic {

__extension__ using Wide = unsigned __int128;
__extension__ using SignedWide = __int128;

enum class Rounding : std::uint8_t { nearest, down, up, zero };  // as ROUNDING is encoded

// A binary interchange format (IEEE 754-2008, 3.4) and the NaN that an operation makes in it.
struct Format {
    int exponent_bits;
    int fraction_bits;
    std::uint64_t nan;

    constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
    constexpr int bits() const { return 1 + exponent_bits + fraction_bits; }
    constexpr std::uint64_t sign() const { return std::uint64_t{1} << (bits() - 1); }
    constexpr std::uint64_t infinity() const {
        return ((std::uint64_t{1} << exponent_bits) - 1) << fraction_bits;
    }
    constexpr std::uint64_t quiet() const { return std::uint64_t{1} << (fraction_bits - 1); }
    constexpr bool is_nan(std::uint64_t pattern) const {
        return (pattern & ~sign()) > infinity() && (pattern >> (bits() - 1)) <= 1;
    }
    constexpr bool is_infinite(std::uint64_t pattern) const {
        return (pattern & ~sign()) == infinity();
    }
    constexpr bool is_denormal(std::uint64_t pattern) const {
        return (pattern & infinity()) == 0 && (pattern & ~sign()) != 0;
    }
    constexpr std::uint64_t flushed(std::uint64_t pattern) const {
        return is_denormal(pattern) ? pattern & sign() : pattern;
    }
};

inline constexpr Format binary16{5, 10, 0x7fff};
inline constexpr Format bfloat16{8, 7, 0x7fff};
inline constexpr Format binary32{8, 23, 0x7fffffff};
inline constexpr Format binary64{11, 52, 0xfff8000000000000};

// (-1)^negative * digits * 2^exponent. What lies below the last digit is kept as that digit being
// one ("sticky"), which is enough for any rounding that drops two digits or more.
struct Exact {
    bool negative = false;
    int exponent = 0;
    Wide digits = 0;
};

// Of a finite pattern.
Exact exact(std::uint64_t pattern, Format format);
Exact exact(std::int64_t value);
Exact exact(std::uint64_t value);

// Overflow gives infinity or the largest finite number, as the direction asks. Tininess loses
// digits and nothing else: flushing is the caller's.
std::uint64_t round(const Exact& value, Format format, Rounding rounding);

// The sum, with a sticky last digit; of a sum that is zero the sign is that of the summands where
// they agree, and negative only when rounding down where they do not.
Exact sum(const Exact& a, const Exact& b, Rounding rounding);

// a * b + c, a * b, a + c, rounded once. Invalid operations and NaNs among the operands: the
// format's own NaN, but for binary64 the first NaN operand, made quiet.
std::uint64_t fused(std::uint64_t a, std::uint64_t b, std::uint64_t c, Format format,
                    Rounding rounding);
std::uint64_t product(std::uint64_t a, std::uint64_t b, Format format, Rounding rounding);
std::uint64_t total(std::uint64_t a, std::uint64_t c, Format format, Rounding rounding);

// The NaN that an operation on these operands gives where its result is one.
std::uint64_t nan_of(std::uint64_t a, std::uint64_t b, std::uint64_t c, Format format);

// To the nearest integer in a direction, from -2^126 to 2^126; what is larger stays there.
SignedWide to_integer(const Exact& value, Rounding rounding);

}  // namespace occupipe::isa::arithmetic
