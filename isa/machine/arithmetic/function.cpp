// SPDX-License-Identifier: MIT
#include "isa/machine/arithmetic/function.h"

#include <cmath>
#include <numbers>

#include "isa/machine/arithmetic/binary32.h"

namespace occupipe::isa::arithmetic {
namespace {

std::uint32_t result(double value) {
    return canonical(flushed(as_bits(static_cast<float>(value))));
}

// Of a quarter of a turn at most an eighth is left, exactly, so that no digit is lost beside the
// function's zeros.
struct Turn {
    int quarter = 0;  // 0 to 3
    double angle = 0;
};

Turn reduced(double turns) {
    const double rest = turns - std::rint(turns);  // exact, at most a half
    const double quarter = std::rint(4 * rest);
    return {.quarter = static_cast<int>(quarter) & 3,
            .angle = 2 * std::numbers::pi * (rest - quarter / 4)};
}

double circular(double turns, int shift) {
    if (std::isinf(turns) || std::isnan(turns)) return std::numeric_limits<double>::quiet_NaN();
    const Turn turn = reduced(turns);
    switch ((turn.quarter + shift) & 3) {
        case 0:
            return std::sin(turn.angle);
        case 1:
            return std::cos(turn.angle);
        case 2:
            return -std::sin(turn.angle);
        default:
            return -std::cos(turn.angle);
    }
}

// The upper word, rounded to nearest; what overflows in it becomes infinity by itself.
std::uint32_t upper(double value) {
    if (std::isnan(value)) return 0x7ff80000;
    const std::uint64_t pattern = as_bits(value);
    if (std::isinf(value)) return static_cast<std::uint32_t>(pattern >> 32);
    const std::uint64_t rounded = pattern + 0x7fffffff + (pattern >> 32 & 1);
    const auto high = static_cast<std::uint32_t>(rounded >> 32);
    return (high & 0x7ff00000) == 0 ? high & 0x80000000 : high;
}

double from_upper(std::uint32_t high) {
    const bool tiny = (high & 0x7ff00000) == 0;
    return as_double(std::uint64_t{tiny ? high & 0x80000000 : high} << 32);
}

// 1 / sqrt(x) to nearest: binary64 decides unless it lies beside the middle of two neighbours;
// then the middle m is compared exactly, m * m * x with 1.
double reciprocal_root_to_odd(double x) {
    const double guess = 1 / std::sqrt(x);
    const std::uint64_t pattern = as_bits(guess);
    constexpr std::uint64_t below = (std::uint64_t{1} << 29) - 1;  // what binary32 has not
    const std::uint64_t middle = (pattern & ~below) | (std::uint64_t{1} << 28);
    const std::uint64_t distance = pattern > middle ? pattern - middle : middle - pattern;
    if (distance > 8) return guess;
    const Exact m = exact(middle, binary64);
    const Exact value = exact(as_bits(x), binary64);
    const Wide half = m.digits >> 28;        // 25 digits
    const Wide digits = value.digits >> 29;  // 24 digits
    const Wide cube = half * half * digits;  // 74 digits
    const int exponent = 2 * (m.exponent + 28) + value.exponent + 29;
    const bool less = exponent <= 0 && exponent > -127 && cube < Wide{1} << -exponent;
    return as_double(less ? middle + 1 : middle - 1);
}

}  // namespace

std::uint32_t reciprocal(std::uint32_t x) {
    return result(1 / static_cast<double>(as_float(flushed(x))));
}

std::uint32_t square_root(std::uint32_t x) {
    return result(std::sqrt(static_cast<double>(as_float(flushed(x)))));
}

std::uint32_t reciprocal_root(std::uint32_t x) {
    const double value = as_float(flushed(x));
    if (!(value > 0) || std::isinf(value)) return result(1 / std::sqrt(value));
    return result(reciprocal_root_to_odd(value));
}

std::uint32_t power_of_two(std::uint32_t x) {
    return result(std::exp2(static_cast<double>(as_float(flushed(x)))));
}

std::uint32_t binary_logarithm(std::uint32_t x) {
    return result(std::log2(static_cast<double>(as_float(flushed(x)))));
}

std::uint32_t sine(std::uint32_t x) { return result(circular(as_float(flushed(x)), 0)); }

std::uint32_t cosine(std::uint32_t x) { return result(circular(as_float(flushed(x)), 1)); }

std::uint32_t hyperbolic_tangent(std::uint32_t x) {
    return canonical(as_bits(static_cast<float>(std::tanh(static_cast<double>(as_float(x))))));
}

std::uint32_t reciprocal_high(std::uint32_t x) { return upper(1 / from_upper(x)); }

std::uint32_t reciprocal_root_high(std::uint32_t x) { return upper(1 / std::sqrt(from_upper(x))); }

}  // namespace occupipe::isa::arithmetic
