// SPDX-License-Identifier: MIT
// What rows of the table ask about an instruction's text.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "isa/instruction.h"
#include "isa/machine/lanes.h"

namespace occupipe::isa {

// The last operand that is an immediate; none where there is none.
inline const Operand* last_immediate(const Instruction& one) {
    const Operand* found = nullptr;
    for (const Operand& operand : one.operands) {
        if (operand.kind == Operand::Kind::immediate) found = &operand;
    }
    return found;
}

// How a comparison's result is combined with a predicate: 0 AND, 1 OR, 2 XOR.
inline std::optional<std::uint8_t> combination(const Instruction& one) {
    if (one.has("AND")) return std::uint8_t{0};
    if (one.has("OR")) return std::uint8_t{1};
    if (one.has("XOR")) return std::uint8_t{2};
    return std::nullopt;
}

OCCUPIPE_INLINE Mask combined(std::uint8_t how, Mask a, Mask b) {
    return how == 0 ? a & b : how == 1 ? a | b : a ^ b;
}

}  // namespace occupipe::isa
