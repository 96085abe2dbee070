// SPDX-License-Identifier: MIT
// The special functions of MUFU in arithmetic that vectorises: series in place of the C library's
// functions, whose results are within 2^-48 of those, relatively. `of` takes operands for which
// `usual` holds; how all others are rounded, and those whose result is too close to the middle of
// two binary32 (Rounded), function.h tells.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numbers>

#include "isa/machine/arithmetic/binary32.h"

namespace occupipe::isa::arithmetic {

// What all within 2^-47 of a value are rounded to, the least and the most.
struct Rounded {
    std::uint32_t low = 0, high = 0;

    OCCUPIPE_INLINE static Rounded of(double value) {
        return {as_bits(static_cast<float>(value * (1 - 0x1p-47))),
                as_bits(static_cast<float>(value * (1 + 0x1p-47)))};
    }
    // Whether they are one normal number.
    OCCUPIPE_INLINE bool sure() const {
        const std::uint32_t beyond = (low & 0x7fffffff) - 0x01000000 < 0x7e000000 ? 0 : 1;
        return ((low ^ high) | beyond) == 0;
    }
};

namespace series {

inline constexpr double to_whole = 0x1.8p52;  // added and subtracted, it rounds below 2^51

// The sum of coefficients[k] x^k.
template <std::size_t count>
OCCUPIPE_INLINE double sum(const std::array<double, count>& coefficients, double x) {
    double sum = coefficients[count - 1];
    for (std::size_t k = count - 1; k > 0; --k) sum = sum * x + coefficients[k - 1];
    return sum;
}

// first, first factor / (step + from) ..., as the series of exponential and circular functions.
template <std::size_t count>
constexpr std::array<double, count> by_factorials(double first, double factor, int from, int step) {
    std::array<double, count> coefficients{};
    double next = first;
    int divisor = from;
    for (double& one : coefficients) {
        one = next;
        next *= factor;
        for (int i = 0; i < step; ++i) next /= ++divisor;
    }
    return coefficients;
}

}  // namespace series

// 2^x, of |x| < 125: 2^k by the exponent, and a half at most is left.
struct WidePower {
    OCCUPIPE_INLINE static bool usual(std::uint32_t x) { return (x & 0x7fffffff) < 0x42fa0000; }
    OCCUPIPE_INLINE static double of(double x) {
        constexpr auto coefficients = series::by_factorials<15>(1, std::numbers::ln2, 0, 1);
        const double whole = x + series::to_whole;
        const double rest = x - (whole - series::to_whole);
        return as_double(as_bits(series::sum(coefficients, rest)) + (as_bits(whole) << 52));
    }
};

// log2(x), of normal x > 0: m of x = 2^k m is between the roots of 1/2 and 2, and
// ln m = 2 artanh((m - 1) / (m + 1)).
struct WideLogarithm {
    OCCUPIPE_INLINE static bool usual(std::uint32_t x) { return x - 0x00800000 < 0x7f000000; }
    OCCUPIPE_INLINE static double of(double x) {
        constexpr std::uint64_t root = 0x3fe6a09e667f3bcd;  // of 1/2
        constexpr std::uint64_t bias = std::uint64_t{1024} << 52;
        constexpr auto coefficients = [] {
            std::array<double, 12> inverse{};  // of odd numbers
            for (std::size_t k = 0; k < inverse.size(); ++k)
                inverse[k] = 1 / static_cast<double>(2 * k + 1);
            return inverse;
        }();
        const std::uint64_t exponent = (as_bits(x) - root + bias) >> 52;  // k + 1024
        const double m = as_double(as_bits(x) - (exponent << 52) + bias);
        const double k = as_double(exponent | as_bits(0x1p52)) - (0x1p52 + 1024);
        const double ratio = (m - 1) / (m + 1);
        return k + 2 * std::numbers::log2e * ratio * series::sum(coefficients, ratio * ratio);
    }
};

// sin(2 pi x) and cos(2 pi x), of normal |x| < 2^31, as circular() of function.cpp.
template <int quarters>
struct WideCircular {
    OCCUPIPE_INLINE static bool usual(std::uint32_t x) {
        return (x & 0x7fffffff) - 0x00800000 < 0x4f000000 - 0x00800000;
    }
    OCCUPIPE_INLINE static double of(double turns) {
        constexpr auto of_sine = series::by_factorials<9>(1, -1, 1, 2);
        constexpr auto of_cosine = series::by_factorials<10>(1, -1, 0, 2);
        const double rest = turns - ((turns + series::to_whole) - series::to_whole);
        const double whole = 4 * rest + series::to_whole;
        const double angle = 2 * std::numbers::pi * (rest - (whole - series::to_whole) / 4);
        const double square = angle * angle;
        const std::uint64_t quarter = as_bits(whole) + quarters;
        const std::uint64_t odd = 0 - (quarter & 1);
        const std::uint64_t sine = as_bits(angle * series::sum(of_sine, square));
        const std::uint64_t cosine = as_bits(series::sum(of_cosine, square));
        return as_double(((sine & ~odd) | (cosine & odd)) ^ (quarter & 2) << 62);
    }
};

// tanh(x), of 2^-31 < |x| < 32: e / (e + 2) of e = exp(2|x|) - 1.
struct WideTangent {
    OCCUPIPE_INLINE static bool usual(std::uint32_t x) {
        return (x & 0x7fffffff) - 0x30000000 < 0x42000000 - 0x30000000;
    }
    OCCUPIPE_INLINE static double of(double x) {
        constexpr auto coefficients = series::by_factorials<14>(1, 1, 1, 1);
        // ln 2 in two parts, whose first has zeros enough behind it to be multiplied exactly.
        constexpr double upper = 0x1.62e42feep-1, lower = 0x1.a39ef35793c76p-33;
        constexpr std::uint64_t sign = std::uint64_t{1} << 63;
        const double twice = 2 * as_double(as_bits(x) & ~sign);
        const double whole = twice * std::numbers::log2e + series::to_whole;
        const double k = whole - series::to_whole;
        const double rest = (twice - k * upper) - k * lower;
        const double scale = as_double(as_bits(1.0) + (as_bits(whole) << 52));
        const double e = scale * (rest * series::sum(coefficients, rest)) + (scale - 1);
        return as_double(as_bits(e / (e + 2)) | (as_bits(x) & sign));
    }
};

}  // namespace occupipe::isa::arithmetic
