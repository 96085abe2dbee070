// SPDX-License-Identifier: MIT
// The part of the CUDA prelude for matrix units, atomics and asynchronous copies.
#pragma once

#include <string>

namespace occupipe::bench {

std::string cuda_unit_macros();

}  // namespace occupipe::bench
