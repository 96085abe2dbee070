// SPDX-License-Identifier: MIT
#include "core/claimed_clock.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace occupipe {

std::optional<std::string> fault_of_claimed_clock(const std::string& text) {
    constexpr double slowest_clock_hz = 1e6;
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stop != end || !std::isfinite(value) || value <= 0)
        return fmt::format("'{}' is not a positive number", text);
    if (value < slowest_clock_hz)
        return fmt::format("'{}' is not a core clock in Hz: is it in MHz or GHz?", text);
    return std::nullopt;
}

}  // namespace occupipe
