// SPDX-License-Identifier: MIT
#include "bench/cuda/cuda_row.h"
#include "bench/cuda/cuda_rows.h"

namespace occupipe::bench {
namespace {

using enum DataType;

// Values in 16 bits; x2: two of them in one register. Single additions and multiplications are not
// here: they are the same instructions, and with several chains the assembler packs two into one.
// Minima are not either: Hopper merges two of them.
constexpr auto rows = table_rows({
    {"add.f16x2",
     f16x2,
     R"(OP_R("add.rn.f16x2 %0, %0, %1;", $, a, b))",
     {0.25, 0, 1},
     "add.rn.f16x2",
     "HADD2|HFMA2|HFMA2.MMA",
     "two half-precision additions"},
    {"mul.f16x2",
     f16x2,
     R"(OP_R("mul.rn.f16x2 %0, %0, %1;", $, a, b))",
     {1, 0, 1.5},
     "mul.rn.f16x2",
     "HMUL2|HFMA2|HFMA2.MMA",
     "two half-precision multiplications"},
    {"fma.f16x2",
     f16x2,
     R"(OP_R("fma.rn.f16x2 %0, %0, %1, %2;", $, a, b))",
     {0.5, 0.75, 1},
     "fma.rn.f16x2",
     "HFMA2|HFMA2.MMA",
     "two half-precision fused multiply-adds"},
    {"ex2.approx.f16",
     f16,
     R"(OP_H("{ .reg .b16 n; neg.f16 n, %0; ex2.approx.f16 %0, n; }", $, a, b))",
     {0, 0, 1},
     "ex2.approx.f16",
     "MUFU.EX2",
     "hardware half-precision power of two of the negated value",
     "logic that flips the sign",
     2},
    {"tanh.approx.f16",
     f16,
     R"(OP_H("tanh.approx.f16 %0, %0;", $, a, b))",
     {0, 0, 1},
     "tanh.approx.f16",
     "MUFU.TANH",
     "hardware half-precision hyperbolic tangent"},
    {"fma.bf16x2",
     bf16x2,
     R"(OP_R("fma.rn.bf16x2 %0, %0, %1, %2;", $, a, b))",
     {0.5, 0.75, 1},
     "fma.rn.bf16x2",
     "HFMA2|HFMA2.MMA",
     "two bfloat16 fused multiply-adds",
     "",
     1,
     80},
    {"add.bf16x2",
     bf16x2,
     R"(OP_R("add.rn.bf16x2 %0, %0, %1;", $, a, b))",
     {0.25, 0, 1},
     "add.rn.bf16x2",
     "HADD2|HFMA2|HFMA2.MMA",
     "two bfloat16 additions",
     "",
     1,
     90},
    {"mul.bf16x2",
     bf16x2,
     R"(OP_R("mul.rn.bf16x2 %0, %0, %1;", $, a, b))",
     {1, 0, 1.5},
     "mul.rn.bf16x2",
     "HMUL2|HFMA2|HFMA2.MMA",
     "two bfloat16 multiplications",
     "",
     1,
     90},
});

}  // namespace

std::span<const Row> cuda_half_rows() { return rows; }

}  // namespace occupipe::bench
