// SPDX-License-Identifier: MIT
// The check of the stack's end that functions of unoptimised code begin with.
#pragma once

#include <cstddef>
#include <span>

#include "isa/instruction.h"

namespace occupipe::isa {

// Whether `code[at]` reads SR_LMEMHIOFF, the lowest offset that the stack may reach, for this check
// alone (ptxas -O0): the stack pointer is compared with it, a trap is jumped over, and the register
// is written anew before anybody else reads it.
bool is_stack_check(std::span<const Instruction> code, std::size_t at, int architecture);

}  // namespace occupipe::isa
