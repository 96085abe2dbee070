// SPDX-License-Identifier: MIT
#include "core/chain_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace occupipe {

std::string chain_step_text(const std::map<std::string, double>& chain) {
    if (chain.empty() || (chain.size() == 1 && chain.begin()->second == 1)) return {};
    std::vector<std::pair<double, std::string>> parts;
    parts.reserve(chain.size());
    for (const auto& [name, number] : chain) parts.emplace_back(-number, name);
    std::ranges::sort(parts);
    std::string text;
    for (const auto& [number, name] : parts) {
        if (!text.empty()) text += " + ";
        text += number == -1 ? name : fmt::format("{:.2g} {}", -number, name);
    }
    return text;
}

}  // namespace occupipe
