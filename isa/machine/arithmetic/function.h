// SPDX-License-Identifier: MIT
// The special functions of MUFU, rounded to nearest. The hardware's own tables differ from that by
// an ulp or two in the last place; nobody has published them.
// Denormal operands and results are flushed to zero (the compiler scales around the instruction
// where a program asks for them), but for TANH, which keeps them.
#pragma once

#include <cmath>
#include <cstdint>

#include "isa/machine/arithmetic/binary32.h"

namespace occupipe::isa::arithmetic {

OCCUPIPE_INLINE double flushed_value(std::uint32_t x) { return as_float(flushed(x)); }
OCCUPIPE_INLINE std::uint32_t rounded_result(double value) {
    return canonical(flushed(as_bits(static_cast<float>(value))));
}

OCCUPIPE_INLINE std::uint32_t reciprocal(std::uint32_t x) {
    return rounded_result(1 / flushed_value(x));
}
OCCUPIPE_INLINE std::uint32_t square_root(std::uint32_t x) {
    return rounded_result(std::sqrt(flushed_value(x)));
}

// 1 / sqrt(x) of binary64 rounds as the exact one: all operands of [1, 4) were tried, and the
// others are powers of four away from these.
OCCUPIPE_INLINE std::uint32_t reciprocal_root(std::uint32_t x) {
    return rounded_result(1 / std::sqrt(flushed_value(x)));
}

std::uint32_t power_of_two(std::uint32_t x);  // 2^x
std::uint32_t binary_logarithm(std::uint32_t x);
std::uint32_t sine(std::uint32_t x);    // sin(2 pi x)
std::uint32_t cosine(std::uint32_t x);  // cos(2 pi x)
std::uint32_t hyperbolic_tangent(std::uint32_t x);

// The upper word of the result from the upper word of a binary64; the lower words are zero.
// Starting values for Newton's method.
std::uint32_t reciprocal_high(std::uint32_t x);
std::uint32_t reciprocal_root_high(std::uint32_t x);

}  // namespace occupipe::isa::arithmetic
