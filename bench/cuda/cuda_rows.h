// SPDX-License-Identifier: MIT
// Rows of THE TABLE that only CUDA can say: their steps are inline PTX in the row itself.
#pragma once

#include <span>

#include "bench/instructions/instruction_table.h"

namespace occupipe::bench {

std::span<const Row> cuda_float_rows();         // 32 and 64 bits
std::span<const Row> cuda_half_rows();          // 16 bits
std::span<const Row> cuda_integer_rows();       // 32 and 64 bits, logic, bit fields
std::span<const Row> cuda_wide_rows();          // 64 bits, further logic and conversions
std::span<const Row> cuda_memory_rows();        // levels, widths, strides, conflicts, stores
std::span<const Row> cuda_matrix_rows();        // of a warp
std::span<const Row> cuda_product_rows();       // further ones, sparse ones, and moves of matrices
std::span<const Row> cuda_group_matrix_rows();  // of four warps
std::span<const Row> cuda_cluster_rows();       // groups in each other's shared memory
std::span<const Row> cuda_fused_rows();         // of dynamic programming, and Blackwell's
std::span<const Row> cuda_unit_rows();          // atomics, asynchronous copies, fences
std::span<const Row> cuda_behaviour_rows();     // loop bodies, operands, divergence, wide barriers
std::span<const Row> cuda_further_rows();       // conversions, comparisons, exchange within a warp

}  // namespace occupipe::bench
