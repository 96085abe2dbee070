// SPDX-License-Identifier: MIT
#include "core/name_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace occupipe {
namespace {

// What the file formats and the command line use between names.
constexpr std::array<bool, 256> means_something = [] {
    std::array<bool, 256> table{};
    for (const char c : std::string_view("@/*,()[]{}=:#\"'")) {
        table[static_cast<unsigned char>(c)] = true;
    }
    return table;
}();

}  // namespace

std::optional<std::string> name_fault(std::string_view name) {
    if (name.empty()) {
        return "a name must not be empty";
    }
    for (const char c : name) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte <= 0x20 || byte == 0x7f) {
            return "a name must not contain blanks or control characters";
        }
        if (means_something[byte]) {
            return fmt::format("a name must not contain '{}'", c);
        }
    }
    return std::nullopt;
}

std::optional<std::string> control_character_fault(std::string_view text) {
    const bool any = std::ranges::any_of(text, [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte < 0x20 || byte == 0x7f;
    });
    return any ? std::optional<std::string>("must not contain control characters") : std::nullopt;
}

}  // namespace occupipe
