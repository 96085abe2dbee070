// SPDX-License-Identifier: MIT
// Time as whole numbers. One cycle and every λ and Λ in use are multiples of one tick, their
// greatest common divisor: a simulation never compares floating times
// (docs/background/pipeline-model.md).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace occupipe::sim {

// A positive fraction in lowest terms.
struct Rational {
    std::int64_t numerator = 1;
    std::int64_t denominator = 1;

    bool operator==(const Rational&) const = default;
};

// The fraction that the shortest decimal text of `value` denotes: 0.375 gives 3/8, 0.2513 gives
// 2513/10000, so a number from a file means exactly its text. nullopt if it does not fit 64
// bits. Throws InputError when the value is not finite and positive.
std::optional<Rational> decimal_rational(double value);

// One time of the model [core cycles].
struct Duration {
    double cycles = 0;
    std::optional<Rational> exact;
};

Duration duration(double cycles);
Duration product(const Duration& share, const Duration& time);

struct TickScale {
    Rational tick;         // [core cycles]
    bool rounded = false;  // times are the nearest multiples of 10^-6 cycles, not exact

    std::int64_t to_ticks(const Duration& duration) const;  // throws InputError: 0 or above 2^50
    double to_cycles(std::int64_t ticks) const;

    bool operator==(const TickScale&) const = default;
};

// The greatest common divisor of the durations while that is at least 10^-8 cycles (then 2^62 ticks
// still span a minute of a GPU's time); below, a tick of 10^-6 cycles, to which all are rounded.
TickScale choose_tick(std::span<const Duration> durations);

// Simulated time must stay below this [ticks].
inline constexpr std::int64_t max_ticks = std::int64_t{1} << 62;

}  // namespace occupipe::sim
