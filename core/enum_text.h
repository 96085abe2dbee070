// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <array>
#include <string>
#include <type_traits>

#include "core/files/document.h"
#include "core/instruction.h"

namespace occupipe {

constexpr auto words(std::type_identity<InstructionKind>) {
    return std::array{InstructionKind::compute, InstructionKind::load, InstructionKind::store,
                      InstructionKind::barrier};
}

// The one of `words(std::type_identity<Enum>)` that the node names, by to_string().
template <class Enum>
Enum word_of(const Document& document, const DocumentNode& node) {
    const std::string& text = document.text(node);
    std::string known;
    for (const Enum value : words(std::type_identity<Enum>{})) {
        if (to_string(value) == text) {
            return value;
        }
        known += fmt::format("{}{}", known.empty() ? "" : ", ", to_string(value));
    }
    document.fail(node, fmt::format("'{}' is not one of {}", text, known));
}

}  // namespace occupipe
