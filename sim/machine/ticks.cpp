// SPDX-License-Identifier: MIT
#include "sim/machine/ticks.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <string_view>

#include "core/error.h"

namespace occupipe::sim {
namespace {

constexpr double finest_exact_tick = 1e-8;  // [cycles]
constexpr std::int64_t rounded_ticks_per_cycle = 1'000'000;
constexpr std::int64_t longest_duration = std::int64_t{1} << 50;  // [ticks]

std::optional<std::int64_t> product(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
    return result;
}

Rational reduced(std::int64_t numerator, std::int64_t denominator) {
    const std::int64_t divisor = std::gcd(numerator, denominator);
    return {numerator / divisor, denominator / divisor};
}

// gcd(a/b, c/d) = gcd(a·L/b, c·L/d) / L with L = lcm(b, d).
std::optional<Rational> common_divisor(const Rational& x, const Rational& y) {
    const std::int64_t shared = std::gcd(x.denominator, y.denominator);
    const auto lcm = product(x.denominator / shared, y.denominator);
    if (!lcm) return std::nullopt;
    const auto left = product(x.numerator, *lcm / x.denominator);
    const auto right = product(y.numerator, *lcm / y.denominator);
    if (!left || !right) return std::nullopt;
    return reduced(std::gcd(*left, *right), *lcm);
}

std::optional<Rational> exact_tick(std::span<const Duration> durations) {
    std::optional<Rational> tick;
    for (const Duration& duration : durations) {
        if (!duration.exact) return std::nullopt;
        tick = tick ? common_divisor(*tick, *duration.exact) : duration.exact;
        if (!tick) return std::nullopt;
    }
    return tick;
}

bool fits(const Rational& tick, std::span<const Duration> durations) {
    const double length =
        static_cast<double>(tick.numerator) / static_cast<double>(tick.denominator);
    if (length < finest_exact_tick) return false;
    for (const Duration& duration : durations)
        if (duration.cycles / length > static_cast<double>(longest_duration)) return false;
    return true;
}

}  // namespace

std::optional<Rational> decimal_rational(double value) {
    if (!std::isfinite(value) || value <= 0)
        throw InputError(fmt::format("a time of {} cycles is not positive and finite", value));
    std::array<char, 64> text{};
    const auto end =
        std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::scientific)
            .ptr;
    std::int64_t digits = 0;
    int exponent = 0;
    bool fraction = false;
    for (const char* c = text.data(); c != end; ++c) {
        if (*c == '.') {
            fraction = true;
        } else if (*c == 'e') {
            const char* first = c[1] == '+' ? c + 2 : c + 1;
            int written = 0;
            std::from_chars(first, end, written);
            exponent += written;
            break;
        } else {
            digits = digits * 10 + (*c - '0');  // at most 17 digits
            if (fraction) --exponent;
        }
    }
    std::int64_t scale = 1;
    for (int i = 0; i < std::abs(exponent); ++i) {
        const auto next = product(scale, 10);
        if (!next) return std::nullopt;
        scale = *next;
    }
    if (exponent < 0) return reduced(digits, scale);
    const auto numerator = product(digits, scale);
    if (!numerator) return std::nullopt;
    return Rational{*numerator, 1};
}

Duration duration(double cycles) { return {cycles, decimal_rational(cycles)}; }

Duration product(const Duration& share, const Duration& time) {
    Duration result{share.cycles * time.cycles, std::nullopt};
    if (share.exact && time.exact) {
        const auto numerator = product(share.exact->numerator, time.exact->numerator);
        const auto denominator = product(share.exact->denominator, time.exact->denominator);
        if (numerator && denominator) result.exact = reduced(*numerator, *denominator);
    }
    return result;
}

TickScale choose_tick(std::span<const Duration> durations) {
    const auto tick = exact_tick(durations);
    if (tick && fits(*tick, durations)) return {*tick, false};
    return {{1, rounded_ticks_per_cycle}, true};
}

std::int64_t TickScale::to_ticks(const Duration& duration) const {
    if (!rounded && duration.exact) {
        // The tick divides every duration it was chosen from, so both divisions are exact.
        const Rational& value = *duration.exact;
        if (tick.denominator % value.denominator == 0) {
            const auto scaled = product(value.numerator, tick.denominator / value.denominator);
            if (scaled) return *scaled / tick.numerator;
        }
    }
    const double length =
        static_cast<double>(tick.numerator) / static_cast<double>(tick.denominator);
    const double ticks = std::round(duration.cycles / length);
    if (ticks < 1)
        throw InputError(fmt::format("{} cycles is below the simulator's resolution of {} cycles",
                                     duration.cycles, length));
    if (ticks > static_cast<double>(longest_duration))
        throw InputError(
            fmt::format("{} cycles is longer than the simulator can represent", duration.cycles));
    return static_cast<std::int64_t>(ticks);
}

double TickScale::to_cycles(std::int64_t ticks) const {
    return static_cast<double>(ticks) * static_cast<double>(tick.numerator) /
           static_cast<double>(tick.denominator);
}

}  // namespace occupipe::sim
