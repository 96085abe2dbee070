// SPDX-License-Identifier: MIT
// Parts of the CUDA prelude that repeat themselves too often to be written out (device/*.cuh).
#pragma once

#include <string>

namespace occupipe::bench {

std::string cuda_product_macros();     // products of matrices: PRODUCT_F4_42(ptx, x), …
std::string cuda_divergence_macros();  // DIVERGE_2(x) to DIVERGE_32(x)

}  // namespace occupipe::bench
