// SPDX-License-Identifier: MIT
// printf and assert of device code, which the driver brings: vprintf(format, arguments),
// __assertfail(condition, file, line, function, …).
#pragma once

#include "isa/machine/launch.h"

namespace occupipe::isa {

inline constexpr std::size_t most_printed_bytes = std::size_t{1} << 20;  // as the device's buffer

// As the calling convention has it: the format in R4 and R5, where the arguments lie in R6 and R7,
// what comes back in R4. Appends to Group::printed, lowest lane first.
void print(Warp& warp, const Step& step, Mask lanes);

// The condition in R4 and R5, the file in R6 and R7, the line in R8, the function in R10 and R11.
// Throws ExecutionError with the line that a GPU prints for each lane.
[[noreturn]] void fail_assertion(Warp& warp, const Step& step, Mask lanes);

}  // namespace occupipe::isa
