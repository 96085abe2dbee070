// SPDX-License-Identifier: MIT
// Values of 16 bits; x2: two of them in one register. Single ones have one chain only: of several
// the assembler packs two into one instruction.
#include "bench/instructions/catalogue.h"
#include "bench/instructions/reasons.h"

namespace occupipe::bench {
namespace {

using enum DataType;

constexpr std::string_view moved_on_hopper =
    "a move under a predicate, which keeps Hopper's assembler from merging two steps";
constexpr std::string_view few_half_operations =
    "half precision in OpenCL: only sums, products and multiply-adds of pairs";

// clang-format off
constexpr CatalogueRow rows[] = {
    {.id = "add.f16x2", .type = f16x2, .operands = {0.25, 0, 1},
     .meaning = "two half-precision additions, distributed over pipes by the assembler",
     .cuda = {.ptx = "add.rn.f16x2 %0, %0, %1;", .sass = "HADD2|HFMA2|HFMA2.MMA",
              .alternates = true, .since = 75},
     .opencl = {.step = "$ = as_uint(as_half2($) + as_half2(a)); FENCE_32($)",
                .extension = "cl_khr_fp16", .also = extension_unseen}},
    {.id = "mul.f16x2", .type = f16x2, .operands = {1, 0, 1.5},
     .meaning = "two half-precision multiplications, distributed over pipes by the assembler",
     .cuda = {.ptx = "mul.rn.f16x2 %0, %0, %1;", .sass = "HMUL2|HFMA2|HFMA2.MMA",
              .alternates = true, .since = 75},
     .opencl = {.step = "$ = as_uint(as_half2($) * as_half2(a)); FENCE_32($)",
                .extension = "cl_khr_fp16", .also = extension_unseen}},
    {.id = "fma.f16x2", .type = f16x2, .operands = {0.5, 0.75, 1},
     .meaning = "two half-precision fused multiply-adds, distributed over pipes by the assembler",
     .cuda = {.ptx = "fma.rn.f16x2 %0, %0, %1, %2;", .sass = "HFMA2|HFMA2.MMA",
              .alternates = true, .since = 75},
     .opencl = {.step = "$ = as_uint(fma(as_half2($), as_half2(a), as_half2(b))); FENCE_32($)",
                .extension = "cl_khr_fp16", .also = extension_unseen}},
    {.id = "ex2.approx.f16", .type = f16, .operands = {0, 0, 1},
     .meaning = "hardware half-precision power of two of the negated value",
     .cuda = {.ptx = "{ .reg .b16 n; neg.f16 n, %0; ex2.approx.f16 %0, n; }",
              .counted = "ex2.approx.f16", .sass = "MUFU.EX2",
              .also = "logic that flips the sign", .length = 2, .since = 75},
     .opencl = {.none = "OpenCL C has no native_ functions for half precision"}},
    {.id = "tanh.approx.f16", .type = f16, .operands = {0, 0, 1},
     .meaning = "hardware half-precision hyperbolic tangent",
     .cuda = {.ptx = "tanh.approx.f16 %0, %0;", .sass = "MUFU.TANH", .since = 75},
     .opencl = {.none = no_native_tanh}},
    {.id = "fma.bf16x2", .type = bf16x2, .operands = {0.5, 0.75, 1},
     .meaning = "two bfloat16 fused multiply-adds, distributed over pipes by the assembler",
     .cuda = {.ptx = "fma.rn.bf16x2 %0, %0, %1, %2;", .sass = "HFMA2|HFMA2.MMA",
              .alternates = true, .since = 80},
     .opencl = {.none = no_bfloat16}},
    {.id = "add.bf16x2", .type = bf16x2, .operands = {0.25, 0, 1},
     .meaning = "two bfloat16 additions, distributed over pipes by the assembler",
     .cuda = {.ptx = "add.rn.bf16x2 %0, %0, %1;", .sass = "HADD2|HFMA2|HFMA2.MMA",
              .alternates = true, .since = 90},
     .opencl = {.none = no_bfloat16}},
    {.id = "mul.bf16x2", .type = bf16x2, .operands = {1, 0, 1.5},
     .meaning = "two bfloat16 multiplications, distributed over pipes by the assembler",
     .cuda = {.ptx = "mul.rn.bf16x2 %0, %0, %1;", .sass = "HMUL2|HFMA2|HFMA2.MMA",
              .alternates = true, .since = 90},
     .opencl = {.none = no_bfloat16}},
    // The step's second operand has the same value in both halves, said by its register's half. Only
    // one kind of machine instruction can.
    {.id = "add.f16x2.broadcast", .type = f16x2, .operands = {0.25, 0, 1},
     .meaning = "two half-precision additions of one value",
     .cuda = {.ptx = "{ .reg .b16 h, g; .reg .b32 t; mov.b32 {h, g}, %1; mov.b32 t, {h, h}; "
                     "add.rn.f16x2 %0, %0, t; }", .counted = "add.rn.f16x2", .sass = "HADD2",
              .since = 75},
     .opencl = {.none = no_pairs_of_integers}},
    {.id = "mul.f16x2.broadcast", .type = f16x2, .operands = {1, 0, 1.5},
     .meaning = "two half-precision multiplications by one value",
     .cuda = {.ptx = "{ .reg .b16 h, g; .reg .b32 t; mov.b32 {h, g}, %1; mov.b32 t, {h, h}; "
                     "mul.rn.f16x2 %0, %0, t; }", .counted = "mul.rn.f16x2", .sass = "HMUL2",
              .since = 75},
     .opencl = {.none = no_pairs_of_integers}},
    {.id = "fma.f16x2.broadcast", .type = f16x2, .operands = {0.5, 0.75, 1},
     .meaning = "two half-precision fused multiply-adds with one value",
     .cuda = {.ptx = "{ .reg .b16 h, g; .reg .b32 t; mov.b32 {h, g}, %1; mov.b32 t, {h, h}; "
                     "fma.rn.f16x2 %0, %0, t, %2; }", .counted = "fma.rn.f16x2", .sass = "HFMA2",
              .since = 75},
     .opencl = {.none = no_pairs_of_integers}},
    {.id = "add.bf16x2.broadcast", .type = bf16x2, .operands = {0.25, 0, 1},
     .meaning = "two bfloat16 additions of one value",
     .cuda = {.ptx = "{ .reg .b16 h, g; .reg .b32 t; mov.b32 {h, g}, %1; mov.b32 t, {h, h}; "
                     "add.rn.bf16x2 %0, %0, t; }", .counted = "add.rn.bf16x2", .sass = "HADD2",
              .since = 90},
     .opencl = {.none = no_bfloat16}},
    {.id = "mul.bf16x2.broadcast", .type = bf16x2, .operands = {1, 0, 1.5},
     .meaning = "two bfloat16 multiplications by one value",
     .cuda = {.ptx = "{ .reg .b16 h, g; .reg .b32 t; mov.b32 {h, g}, %1; mov.b32 t, {h, h}; "
                     "mul.rn.bf16x2 %0, %0, t; }", .counted = "mul.rn.bf16x2", .sass = "HMUL2",
              .since = 90},
     .opencl = {.none = no_bfloat16}},
    {.id = "fma.bf16x2.broadcast", .type = bf16x2, .operands = {0.5, 0.75, 1},
     .meaning = "two bfloat16 fused multiply-adds with one value",
     .cuda = {.ptx = "{ .reg .b16 h, g; .reg .b32 t; mov.b32 {h, g}, %1; mov.b32 t, {h, h}; "
                     "fma.rn.bf16x2 %0, %0, t, %2; }", .counted = "fma.rn.bf16x2",
              .sass = "HFMA2", .since = 80},
     .opencl = {.none = no_bfloat16}},
    {.id = "min.f16x2", .type = f16x2, .operands = {1, 0, 1.5},
     .meaning = "smaller of two pairs of half-precision values",
     .cuda = {.ptx = "@go min.f16x2 %0, %0, %1;", .sass = "HMNMX2", .also = moved_on_hopper,
              .length = 2, .since = 80},
     .opencl = {.none = few_half_operations}},
    {.id = "max.f16x2", .type = f16x2, .operands = {1, 0, 1.5},
     .meaning = "larger of two pairs of half-precision values",
     .cuda = {.ptx = "@go max.f16x2 %0, %0, %1;", .sass = "HMNMX2", .also = moved_on_hopper,
              .length = 2, .since = 80},
     .opencl = {.none = few_half_operations}},
    {.id = "min.bf16x2", .type = bf16x2, .operands = {1, 0, 1.5},
     .meaning = "smaller of two pairs of bfloat16 values",
     .cuda = {.ptx = "@go min.bf16x2 %0, %0, %1;", .sass = "HMNMX2", .also = moved_on_hopper,
              .length = 2, .since = 80},
     .opencl = {.none = no_bfloat16}},
    {.id = "max.bf16x2", .type = bf16x2, .operands = {1, 0, 1.5},
     .meaning = "larger of two pairs of bfloat16 values",
     .cuda = {.ptx = "@go max.bf16x2 %0, %0, %1;", .sass = "HMNMX2", .also = moved_on_hopper,
              .length = 2, .since = 80},
     .opencl = {.none = no_bfloat16}},
    {.id = "add.f16", .type = f16, .operands = {0.25, 0, 1},
     .meaning = "half-precision addition",
     .most_chains = 1,
     .cuda = {.ptx = "add.rn.f16 %0, %0, %1;", .sass = "HADD2|HFMA2|HFMA2.MMA", .since = 75},
     .opencl = {.none = few_half_operations}},
    {.id = "mul.f16", .type = f16, .operands = {1, 0, 1.5},
     .meaning = "half-precision multiplication",
     .most_chains = 1,
     .cuda = {.ptx = "mul.rn.f16 %0, %0, %1;", .sass = "HMUL2|HFMA2|HFMA2.MMA", .since = 75},
     .opencl = {.none = few_half_operations}},
    {.id = "fma.f16", .type = f16, .operands = {0.5, 0.75, 1},
     .meaning = "half-precision fused multiply-add",
     .most_chains = 1,
     .cuda = {.ptx = "fma.rn.f16 %0, %0, %1, %2;", .sass = "HFMA2|HFMA2.MMA", .since = 75},
     .opencl = {.none = few_half_operations}},
    {.id = "fma.bf16", .type = bf16, .operands = {0.5, 0.75, 1},
     .meaning = "bfloat16 fused multiply-add",
     .most_chains = 1,
     .cuda = {.ptx = "fma.rn.bf16 %0, %0, %1, %2;", .sass = "HFMA2|HFMA2.MMA", .since = 80},
     .opencl = {.none = no_bfloat16}},
    {.id = "add.bf16", .type = bf16, .operands = {0.25, 0, 1},
     .meaning = "bfloat16 addition",
     .most_chains = 1,
     .cuda = {.ptx = "add.rn.bf16 %0, %0, %1;", .sass = "HADD2|HFMA2|HFMA2.MMA", .since = 90},
     .opencl = {.none = no_bfloat16}},
    {.id = "mul.bf16", .type = bf16, .operands = {1, 0, 1.5},
     .meaning = "bfloat16 multiplication",
     .most_chains = 1,
     .cuda = {.ptx = "mul.rn.bf16 %0, %0, %1;", .sass = "HMUL2|HFMA2|HFMA2.MMA", .since = 90},
     .opencl = {.none = no_bfloat16}},
};
// clang-format on

}  // namespace

std::span<const CatalogueRow> half_rows() { return rows; }

}  // namespace occupipe::bench
