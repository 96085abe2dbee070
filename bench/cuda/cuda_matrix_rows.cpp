// SPDX-License-Identifier: MIT
#include <vector>

#include "bench/cuda/cuda_rows.h"

namespace occupipe::bench {
namespace {

using enum DataType;
using enum Pattern;

// Chained through the accumulator: D = A B + D. `operations`: multiplications and additions.
Row multiply(std::string_view id, DataType type, std::string_view state, std::string_view step,
             std::string_view ptx, std::string_view sass, int least_architecture, double operations,
             std::string_view meaning) {
    Row row{};
    row.id = id;
    row.type = type;
    row.pattern = chain;
    row.state = state;
    row.step = step;
    row.a = 0.5;
    row.b = 0.25;
    row.x = 1;
    if (type == b32) {  // bytes, or bits of numbers of 32
        row.a = 0x01010101;
        row.b = 0x01000100;
    }
    row.ptx = ptx;
    row.sass = sass;
    row.least_architecture = least_architecture;
    row.sass_also =
        "no-operations that the assembler puts between dependent ones; clearing of "
        "unused registers where the GPU only has a larger shape";
    row.sass_length = 2;
    if (sass == "DMMA") row.unroll = 16;  // 38 no-operations each where the FP64 unit is narrow
    row.counters = {{{"operations", operations}, {}}};
    row.meaning = meaning;
    row.most_chains = 4;
    return row;
}

std::vector<Row> make_rows() {
    return {
        multiply("mma.m16n8k16.f32.f16", f16x2, "FragmentF32",
                 R"(MMA_F32_42("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", $, a, b))",
                 "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "HMMA", 80, 2.0 * 16 * 8 * 16,
                 "a warp's matrix multiply-add 16x8x16, half precision into single"),
        multiply("mma.m16n8k16.f16.f16", f16x2, "FragmentF16",
                 R"(MMA_F16_42("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", $, a, b))",
                 "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", "HMMA", 80, 2.0 * 16 * 8 * 16,
                 "a warp's matrix multiply-add 16x8x16, half precision"),
        multiply("mma.m16n8k8.f32.f16", f16x2, "FragmentF32",
                 R"(MMA_F32_21("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", $, a, b))",
                 "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", "HMMA", 75, 2.0 * 16 * 8 * 8,
                 "a warp's matrix multiply-add 16x8x8, half precision into single"),
        multiply("mma.m16n8k16.f32.bf16", bf16x2, "FragmentF32",
                 R"(MMA_F32_42("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", $, a, b))",
                 "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "HMMA", 80,
                 2.0 * 16 * 8 * 16, "a warp's matrix multiply-add 16x8x16, bfloat16 into single"),
        multiply("mma.m16n8k8.f32.tf32", b32, "FragmentF32",
                 R"(MMA_F32_42("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", $, a, b))",
                 "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "HMMA", 80, 2.0 * 16 * 8 * 8,
                 "a warp's matrix multiply-add 16x8x8, 19-bit floats into single precision"),
        multiply("mma.m8n8k4.f64", b32, "FragmentF64",
                 R"(MMA_F64_11("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", $))",
                 "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", "DMMA", 80, 2.0 * 8 * 8 * 4,
                 "a warp's matrix multiply-add 8x8x4, double precision"),
        multiply("mma.m16n8k32.s32.s8", b32, "FragmentS32",
                 R"(MMA_S32_42("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", $, a, b))",
                 "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", "IMMA", 80, 2.0 * 16 * 8 * 32,
                 "a warp's matrix multiply-add 16x8x32, bytes into integers"),
        multiply("mma.m8n8k16.s32.s8", b32, "FragmentS32Pair",
                 R"(MMA_S32_11("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32", $, a, b))",
                 "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32", "IMMA", 75, 2.0 * 8 * 8 * 16,
                 "a warp's matrix multiply-add 8x8x16, bytes into integers"),
    };
}

}  // namespace

std::span<const Row> cuda_matrix_rows() {
    static const std::vector<Row> rows = make_rows();
    return rows;
}

}  // namespace occupipe::bench
