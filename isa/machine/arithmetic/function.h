// SPDX-License-Identifier: MIT
// The special functions of MUFU, rounded to nearest. The hardware's own tables differ from that by
// an ulp or two in the last place; nobody has published them.
// Denormal operands and results are flushed to zero (the compiler scales around the instruction
// where a program asks for them), but for TANH, which keeps them.
#pragma once

#include <cstdint>

namespace occupipe::isa::arithmetic {

std::uint32_t reciprocal(std::uint32_t x);       // 1 / x
std::uint32_t reciprocal_root(std::uint32_t x);  // 1 / sqrt(x)
std::uint32_t square_root(std::uint32_t x);
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
