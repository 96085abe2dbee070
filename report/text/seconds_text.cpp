// SPDX-License-Identifier: MIT
#include "report/text/seconds_text.h"

#include <fmt/format.h>

namespace occupipe::report {

std::string seconds_text(double seconds) {
    constexpr struct {
        double unit;
        const char* name;
    } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
    for (const auto& [unit, name] : units)
        if (seconds >= unit) return fmt::format("{:.4g} {}", seconds / unit, name);
    return fmt::format("{:.4g} ns", seconds / 1e-9);
}

}  // namespace occupipe::report
