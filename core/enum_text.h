// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <string>

#include "core/files/document.h"
#include "core/instruction.h"

namespace occupipe {

// The one of `values` that the node names, by to_string().
template <class Enum>
Enum word_of(const Document& document, const DocumentNode& node,
             std::initializer_list<Enum> values) {
    const std::string& text = document.text(node);
    std::string known;
    for (const Enum value : values) {
        if (to_string(value) == text) {
            return value;
        }
        known += fmt::format("{}{}", known.empty() ? "" : ", ", to_string(value));
    }
    document.fail(node, fmt::format("'{}' is none of {}", text, known));
}

inline InstructionKind read_kind(const Document& document, const DocumentNode& node) {
    return word_of(document, node,
                   {InstructionKind::compute, InstructionKind::load, InstructionKind::store,
                    InstructionKind::barrier});
}

}  // namespace occupipe
