// SPDX-License-Identifier: MIT
#include "core/chain_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace occupipe {

namespace {

// Less than this per step is about a move per iteration of the timed loop, not part of a step.
constexpr double least_told = 0.01;

}  // namespace

std::string chain_step_text(const std::map<std::string, double>& chain) {
    std::vector<std::pair<double, std::string>> parts;
    parts.reserve(chain.size());
    for (const auto& [name, number] : chain) {
        if (number >= least_told) parts.emplace_back(-number, name);
    }
    if (parts.size() == 1 && std::abs(parts.front().first + 1) < least_told) return {};
    std::ranges::sort(parts);
    std::string text;
    for (const auto& [number, name] : parts) {
        if (!text.empty()) text += " + ";
        text += number == -1 ? name : fmt::format("{:.2g} {}", -number, name);
    }
    return text;
}

}  // namespace occupipe
