// SPDX-License-Identifier: MIT
#include "core/suggestions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace occupipe {
namespace {

constexpr std::size_t most_suggestions = 4;

// Levenshtein's distance: letters to insert, remove or replace.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
        }
    }
    return row.back();
}

}  // namespace

std::vector<std::string> near_names(std::string_view name,
                                    const std::vector<std::string>& candidates) {
    std::vector<std::pair<std::size_t, std::string>> found;
    for (const std::string& candidate : candidates) {
        const bool part = name.size() >= 3 && candidate.find(name) != std::string::npos;
        const std::size_t apart = part ? 1 : distance(name, candidate);
        if (apart <= std::max<std::size_t>(1, name.size() / 3))
            found.emplace_back(apart, candidate);
    }
    std::ranges::stable_sort(found, {}, &std::pair<std::size_t, std::string>::first);
    std::vector<std::string> names;
    for (auto& [apart, candidate] : found) {
        if (names.size() < most_suggestions) names.push_back(std::move(candidate));
    }
    return names;
}

std::string near_text(std::string_view name, const std::vector<std::string>& candidates) {
    const auto near = near_names(name, candidates);
    return near.empty() ? "" : fmt::format("; near: {}", fmt::join(near, ", "));
}

}  // namespace occupipe
