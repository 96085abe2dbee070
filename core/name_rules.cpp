// SPDX-License-Identifier: MIT
#include "core/name_rules.h"

#include <fmt/format.h>

namespace occupipe {

std::optional<std::string> name_fault(std::string_view name) {
    if (name.empty()) {
        return "a name must not be empty";
    }
    for (const char c : name) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte <= 0x20 || byte == 0x7f) {
            return "a name must not contain blanks or control characters";
        }
        if (std::string_view("@/*,()[]{}=:#\"'").find(c) != std::string_view::npos) {
            return fmt::format("a name must not contain '{}'", c);
        }
    }
    return std::nullopt;
}

}  // namespace occupipe
