// SPDX-License-Identifier: MIT
// Machine instruction → what profiles call it.
//   FFMA → fma.f32    LDG.E.128 → ld.global.v4.f32, ld.global.l2.v4.f32    BRA → issue.slot, or
//   branch
#pragma once

#include <string>
#include <vector>

#include "isa/instruction.h"

namespace occupipe::extract {

// Names under which a profile may know the instruction, best first: the first is what a kernel file
// calls it where no profile decides. An instruction that has no row is "machine.OPCODE", in lower
// case: no profile knows it unless somebody measured it under that name.
std::vector<std::string> profile_names(const isa::Instruction& instruction);

}  // namespace occupipe::extract
