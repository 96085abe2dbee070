// SPDX-License-Identifier: MIT
// Sums of floating-point numbers as atomic operations make them: rounded to nearest, one by one.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace occupipe::isa {

// Results that are not numbers have one pattern on NVIDIA's devices.
inline std::uint32_t canonical_f32(float value) {
    return std::isnan(value) ? 0x7fffffff : std::bit_cast<std::uint32_t>(value);
}

inline std::uint32_t add_f32(std::uint32_t a, std::uint32_t b) {
    return canonical_f32(std::bit_cast<float>(a) + std::bit_cast<float>(b));
}

inline std::uint32_t flushed(std::uint32_t a) { return (a & 0x7f800000) == 0 ? a & 0x80000000 : a; }

inline std::uint32_t add_f32_flushed(std::uint32_t a, std::uint32_t b) {
    return flushed(add_f32(flushed(a), flushed(b)));
}

inline std::uint64_t add_f64(std::uint64_t a, std::uint64_t b) {
    const double sum = std::bit_cast<double>(a) + std::bit_cast<double>(b);
    return std::isnan(sum) ? 0x7fffffffffffffff : std::bit_cast<std::uint64_t>(sum);
}

inline double value_of_f16(std::uint32_t bits) {
    const double sign = (bits & 0x8000) != 0 ? -1 : 1;
    const auto exponent = static_cast<int>(bits >> 10 & 31);
    const auto mantissa = static_cast<double>(bits & 0x3ff);
    if (exponent == 31) return sign * (mantissa != 0 ? std::nan("") : INFINITY);
    return exponent == 0 ? sign * std::ldexp(mantissa, -24)
                         : sign * std::ldexp(1024 + mantissa, exponent - 25);
}

// Rounded to nearest, ties to even. `value` is a sum of two binary16, which a binary64 holds.
inline std::uint32_t f16_of(double value) {
    if (std::isnan(value)) return 0x7fff;
    const std::uint32_t sign = std::signbit(value) ? 0x8000 : 0;
    const double size = std::abs(value);
    if (size >= 65520) return sign | 0x7c00;
    int exponent = 0;
    std::frexp(size, &exponent);
    const int unit = std::max(exponent - 11, -24);
    const auto steps = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(size, -unit)));
    // A carry out of the mantissa runs into the exponent, which is as it should be.
    const auto biased = static_cast<std::uint32_t>(unit + 24);
    return sign | (steps + (biased << 10));
}

inline std::uint32_t add_f16x2(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t low = f16_of(value_of_f16(a & 0xffff) + value_of_f16(b & 0xffff));
    return low | f16_of(value_of_f16(a >> 16) + value_of_f16(b >> 16)) << 16;
}

inline std::uint32_t add_bf16(std::uint32_t a, std::uint32_t b) {
    const double sum = double{std::bit_cast<float>(a << 16)} + std::bit_cast<float>(b << 16);
    if (std::isnan(sum)) return 0x7fff;
    if (sum == 0) return std::signbit(sum) ? 0x8000 : 0;
    int exponent = 0;
    std::frexp(sum, &exponent);
    const int unit = std::max(exponent - 8, -133);
    const double rounded = std::ldexp(std::nearbyint(std::ldexp(sum, -unit)), unit);
    // Eight bits and an exponent of binary32: the conversion is exact, or infinite as it should be.
    return std::bit_cast<std::uint32_t>(static_cast<float>(rounded)) >> 16;
}

inline std::uint32_t add_bf16x2(std::uint32_t a, std::uint32_t b) {
    return add_bf16(a & 0xffff, b & 0xffff) | add_bf16(a >> 16, b >> 16) << 16;
}

}  // namespace occupipe::isa
