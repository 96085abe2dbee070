// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "isa/instruction.h"

namespace occupipe::isa {

// Whether a loop of the code may wait for what another group writes: it reads global memory with a
// load that other groups' stores are promised to (.STRONG.GPU and above), or again and again at an
// address that does not change in the loop. Says so rather too often than too seldom.
bool may_wait_for_groups(const std::vector<Instruction>& code);

// By instruction: of a short loop that reads what other groups write, as in a barrier of the grid.
std::vector<bool> in_waiting_loop(const std::vector<Instruction>& code);

}  // namespace occupipe::isa
