// SPDX-License-Identifier: MIT
// CUDA's 16-bit floating types on the host: every operation is the exact result rounded once, to
// nearest, ties to even, denormal values included.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace occupipe::test::host {

// `value` rounded to a 16-bit type with so many bits of mantissa (10: half, 7: bfloat16).
inline std::uint16_t round_to_16_bits(double value, int mantissa) {
    const int exponent_bits = 15 - mantissa, bias = (1 << (exponent_bits - 1)) - 1;
    const unsigned infinity = ((1u << exponent_bits) - 1) << mantissa;
    const unsigned sign = std::signbit(value) ? 0x8000u : 0;
    if (std::isnan(value)) return 0x7fff;
    const double size = std::fabs(value);
    if (size == 0) return static_cast<std::uint16_t>(sign);
    if (std::isinf(size)) return static_cast<std::uint16_t>(sign | infinity);
    const int least = 1 - bias;  // exponent of the smallest normal value, and of all denormal ones
    const int exponent = std::max(std::ilogb(size), least);
    const auto steps =
        static_cast<std::int64_t>(std::nearbyint(std::ldexp(size, mantissa - exponent)));
    // A mantissa that overflows counts the exponent up by itself.
    const std::int64_t bits = (std::int64_t{exponent - least} << mantissa) + steps;
    return static_cast<std::uint16_t>(sign | std::min<std::int64_t>(bits, infinity));
}

inline float value_of_16_bits(std::uint16_t bits, int mantissa) {
    const int exponent_bits = 15 - mantissa, bias = (1 << (exponent_bits - 1)) - 1;
    const int exponent = bits >> mantissa & ((1 << exponent_bits) - 1);
    const int fraction = bits & ((1 << mantissa) - 1);
    float size;
    if (exponent == (1 << exponent_bits) - 1) {
        size = fraction ? std::numeric_limits<float>::quiet_NaN()
                        : std::numeric_limits<float>::infinity();
    } else if (exponent == 0) {
        size = std::ldexp(static_cast<float>(fraction), 1 - bias - mantissa);
    } else {
        size =
            std::ldexp(static_cast<float>(fraction + (1 << mantissa)), exponent - bias - mantissa);
    }
    return bits & 0x8000 ? -size : size;
}

// a·b + c, exact but for the last bit, which is set when something was lost ("round to odd"): what
// is rounded from it is the exact value rounded once. The product has to be exact in double.
inline double fused(double a, double b, double c) {
    const double product = a * b, sum = product + c;
    if (!std::isfinite(sum)) return sum;
    const double part = sum - product;
    const double lost = (product - (sum - part)) + (c - part);
    std::uint64_t bits;
    std::memcpy(&bits, &sum, sizeof bits);
    if (lost == 0 || bits & 1) return sum;
    return std::nextafter(sum, lost > 0 ? std::numeric_limits<double>::infinity()
                                        : -std::numeric_limits<double>::infinity());
}

template <int Mantissa>
struct Float16 {
    std::uint16_t bits;

    Float16() = default;
    Float16(float value) : bits(round_to_16_bits(value, Mantissa)) {}
    Float16(double value) : bits(round_to_16_bits(value, Mantissa)) {}
    Float16(int value) : bits(round_to_16_bits(value, Mantissa)) {}
    Float16(unsigned value) : bits(round_to_16_bits(value, Mantissa)) {}
    operator float() const { return value_of_16_bits(bits, Mantissa); }

    static Float16 of_bits(std::uint16_t bits) {
        Float16 made;
        made.bits = bits;
        return made;
    }
    // A float is wide enough for these: rounding its result once more changes nothing.
    friend Float16 operator+(Float16 a, Float16 b) { return float(a) + float(b); }
    friend Float16 operator-(Float16 a, Float16 b) { return float(a) - float(b); }
    friend Float16 operator*(Float16 a, Float16 b) { return double(float(a)) * float(b); }
    friend Float16 operator/(Float16 a, Float16 b) { return float(a) / float(b); }
    friend bool operator==(Float16 a, Float16 b) { return float(a) == float(b); }
    friend bool operator!=(Float16 a, Float16 b) { return float(a) != float(b); }
    friend bool operator<(Float16 a, Float16 b) { return float(a) < float(b); }
    friend bool operator>(Float16 a, Float16 b) { return float(a) > float(b); }
    friend bool operator<=(Float16 a, Float16 b) { return float(a) <= float(b); }
    friend bool operator>=(Float16 a, Float16 b) { return float(a) >= float(b); }
    Float16 operator-() const { return of_bits(bits ^ 0x8000); }
    Float16& operator+=(Float16 b) { return *this = *this + b; }
    Float16& operator-=(Float16 b) { return *this = *this - b; }
    Float16& operator*=(Float16 b) { return *this = *this * b; }
};

template <int Mantissa>
struct alignas(4) Float16x2 {
    using Part = Float16<Mantissa>;
    Part x, y;

    Float16x2() = default;
    Float16x2(Part low, Part high) : x(low), y(high) {}
    friend Float16x2 operator+(Float16x2 a, Float16x2 b) { return {a.x + b.x, a.y + b.y}; }
    friend Float16x2 operator-(Float16x2 a, Float16x2 b) { return {a.x - b.x, a.y - b.y}; }
    friend Float16x2 operator*(Float16x2 a, Float16x2 b) { return {a.x * b.x, a.y * b.y}; }
    Float16x2 operator-() const { return {-x, -y}; }
    Float16x2& operator+=(Float16x2 b) { return *this = *this + b; }
    Float16x2& operator*=(Float16x2 b) { return *this = *this * b; }
};

template <int M>
Float16<M> fused16(Float16<M> a, Float16<M> b, Float16<M> c) {
    return Float16<M>(fused(float(a), float(b), float(c)));
}

}  // namespace occupipe::test::host

using __half = occupipe::test::host::Float16<10>;
using __half2 = occupipe::test::host::Float16x2<10>;
using half = __half;
using half2 = __half2;
using __nv_bfloat16 = occupipe::test::host::Float16<7>;
using __nv_bfloat162 = occupipe::test::host::Float16x2<7>;
