// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace occupipe::extract {

// What kind of work an opcode ("IMAD") is: float, integer, half, double, conversion, function
// (MUFU), matrix, memory, atomic, collective, control, move, uniform (the uniform datapath), in the
// sense of what it computes; NVIDIA does not document for every architecture which pipe executes
// it. "unknown" for an opcode that isa/ does not know.
std::string_view unit_of(std::string_view opcode);

}  // namespace occupipe::extract
