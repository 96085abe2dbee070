// SPDX-License-Identifier: MIT
// The part of the CUDA prelude for products of matrices whose elements differ, and for moving
// matrices between registers and shared memory.
#pragma once

#include <string>

namespace occupipe::bench {

std::string cuda_matrix_macros();

}  // namespace occupipe::bench
