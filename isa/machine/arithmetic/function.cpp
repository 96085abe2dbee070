// SPDX-License-Identifier: MIT
#include "isa/machine/arithmetic/function.h"

#include <cmath>
#include <numbers>

namespace occupipe::isa::arithmetic {
namespace {

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

}  // namespace

std::uint32_t power_of_two(std::uint32_t x) {
    const double value = flushed_value(x);
    // The C library takes its time where the result is out of range.
    if (value <= -127) return 0;
    if (value >= 128) return 0x7f800000;
    return rounded_result(std::exp2(value));
}

std::uint32_t binary_logarithm(std::uint32_t x) {
    return rounded_result(std::log2(flushed_value(x)));
}

std::uint32_t sine(std::uint32_t x) { return rounded_result(circular(flushed_value(x), 0)); }

std::uint32_t cosine(std::uint32_t x) { return rounded_result(circular(flushed_value(x), 1)); }

std::uint32_t hyperbolic_tangent(std::uint32_t x) {
    return canonical(as_bits(static_cast<float>(std::tanh(static_cast<double>(as_float(x))))));
}

std::uint32_t reciprocal_high(std::uint32_t x) { return upper(1 / from_upper(x)); }

std::uint32_t reciprocal_root_high(std::uint32_t x) { return upper(1 / std::sqrt(from_upper(x))); }

}  // namespace occupipe::isa::arithmetic
