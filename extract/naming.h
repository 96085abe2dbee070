// SPDX-License-Identifier: MIT
// Machine instruction → what profiles call it.
//   FFMA → fma.f32    LDG.E.128 → ld.global.v4.f32, ld.global.l2.v4.f32    BRA → issue.slot
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isa/instruction.h"

namespace occupipe::extract {

struct MachineName {
    std::string_view opcode;
    std::string_view modifiers;  // all of them present, blanks between
    std::string_view names;      // as profiles call it, best first, blanks between
};

// First match counts; special rows stand before general ones.
std::span<const MachineName> machine_names();

// Names under which a profile may know the instruction, best first: the first is what a kernel file
// calls it where no profile decides. An instruction that has no row is "machine.OPCODE", in lower
// case: no profile knows it unless somebody measured it under that name.
std::vector<std::string> profile_names(const isa::Instruction& instruction);

}  // namespace occupipe::extract
