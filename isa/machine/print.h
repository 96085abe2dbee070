// SPDX-License-Identifier: MIT
// printf of device code, which the driver brings: vprintf(format, arguments).
#pragma once

#include "isa/machine/launch.h"

namespace occupipe::isa {

inline constexpr std::size_t most_printed_bytes = std::size_t{1} << 20;  // as the device's buffer

// As the calling convention has it: the format in R4 and R5, where the arguments lie in R6 and R7,
// what comes back in R4. Appends to Group::printed, lowest lane first.
void print(Warp& warp, const Step& step, Mask lanes);

}  // namespace occupipe::isa
