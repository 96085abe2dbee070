// SPDX-License-Identifier: MIT
// The hardware's approximations (ex2, lg2, sin, …, with .ftz) as exact values rounded once. Real
// bits differ by an ulp or so; an executor of machine code cannot know them either.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace on_host {

// Values too small to be normal become zero.
inline float flushed(float x) { return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }

inline float power_of_two(float x) {
    return flushed(static_cast<float>(std::exp2(static_cast<double>(flushed(x)))));
}
inline float log_of_two(float x) {
    return static_cast<float>(std::log2(static_cast<double>(flushed(x))));
}
// The unit takes turns: the product with 1/2π is cut, not rounded, to a float.
inline double turns(float x) {
    const double exact = static_cast<double>(x) * static_cast<double>(0.15915494f);
    float cut = static_cast<float>(exact);
    if (std::fabs(static_cast<double>(cut)) > std::fabs(exact)) cut = std::nextafter(cut, 0.0f);
    return static_cast<double>(cut) - std::nearbyint(static_cast<double>(cut));
}
inline float sine(float x) { return static_cast<float>(std::sin(2 * std::numbers::pi * turns(x))); }
inline float cosine(float x) {
    return static_cast<float>(std::cos(2 * std::numbers::pi * turns(x)));
}
inline float root(float x) { return std::sqrt(flushed(x)); }
inline float inverse_root(float x) {
    return static_cast<float>(1.0L / std::sqrt(static_cast<long double>(flushed(x))));
}
inline float inverse(float x) { return flushed(1.0f / flushed(x)); }
inline float hyperbolic(float x) { return static_cast<float>(std::tanh(static_cast<double>(x))); }

}  // namespace on_host
