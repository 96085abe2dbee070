// SPDX-License-Identifier: MIT
// The part of the CUDA prelude that reaches memory.
#pragma once

#include <string>

namespace occupipe::bench {

std::string cuda_memory_macros();

}  // namespace occupipe::bench
