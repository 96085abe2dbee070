// SPDX-License-Identifier: MIT
// Sums of floating-point numbers as atomic operations make them: rounded to nearest, one by one.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "isa/machine/arithmetic/half.h"

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

template <arithmetic::Half half>
std::uint32_t add_halves(std::uint32_t a, std::uint32_t b) {
    return arithmetic::half_sum<half>(a & 0xffff, b & 0xffff) |
           arithmetic::half_sum<half>(a >> 16, b >> 16) << 16;
}

}  // namespace occupipe::isa
