// SPDX-License-Identifier: MIT
// Instructions that do what took several before: Hopper's for dynamic programming (DPX), named as
// CUDA's functions are, and Blackwell's.
#include <vector>

#include "bench/cuda/cuda_rows.h"

namespace occupipe::bench {
namespace {

using enum DataType;

Row fused(std::string_view id, DataType type, std::string_view step, std::string_view ptx,
          std::string_view sass, int least_architecture, std::string_view meaning) {
    Row row{};
    row.id = id;
    row.type = type;
    row.pattern = Pattern::chain;
    row.step = step;
    row.a = 3;
    row.b = 5;
    row.x = 1;
    row.ptx = ptx;
    row.sass = sass;
    row.foldable = true;
    row.meaning = meaning;
    row.least_architecture = least_architecture;
    return row;
}

// Two PTX instructions of a kind become the one.
Row of_two(Row row) {
    row.ptx_count = 2;
    return row;
}

std::vector<Row> dynamic_programming() {
    return {
        fused("viaddmax.s32", s32,
              R"(OP_R("{ .reg .b32 t; add.s32 t, %0, %1; max.s32 %0, t, %2; }", $, a, b))",
              "max.s32", "VIADDMNMX", 90, "the larger of a sum and a third integer"),
        fused("viaddmin.s32", s32,
              R"(OP_R("{ .reg .b32 t; add.s32 t, %0, %1; min.s32 %0, t, %2; }", $, a, b))",
              "min.s32", "VIADDMNMX", 90, "the smaller of a sum and a third integer"),
        fused("viaddmax.s32.relu", s32,
              R"(OP_R("{ .reg .b32 t; add.s32 t, %0, %1; max.s32.relu %0, t, %2; }", $, a, b))",
              "max.s32.relu", "VIADDMNMX", 90,
              "the larger of a sum and a third integer, not below zero"),
        fused("viaddmax.s16x2", b32,
              R"(OP_R("{ .reg .b32 t; add.s16x2 t, %0, %1; max.s16x2 %0, t, %2; }", $, a, b))",
              "max.s16x2", "VIADDMNMX", 90,
              "the larger of a sum and a third integer, 16 bits twice"),
        fused("viaddmax.s16x2.relu", b32,
              R"(OP_R("{ .reg .b32 t; add.s16x2 t, %0, %1; max.s16x2.relu %0, t, %2; }", $, a, b))",
              "max.s16x2.relu", "VIADDMNMX", 90,
              "the larger of a sum and a third integer, not below zero, 16 bits twice"),
        fused("viaddmin.u16x2", b32,
              R"(OP_R("{ .reg .b32 t; add.u16x2 t, %0, %1; min.u16x2 %0, t, %2; }", $, a, b))",
              "min.u16x2", "VIADDMNMX", 90,
              "the smaller of a sum and a third integer, unsigned 16 bits twice"),
        of_two(fused("vimax3.s32", s32,
                     R"(OP_R("{ .reg .b32 t; max.s32 t, %0, %1; max.s32 %0, t, %2; }", $, a, b))",
                     "max.s32", "VIMNMX3", 90, "the largest of three integers")),
        of_two(fused("vimin3.u32", u32,
                     R"(OP_R("{ .reg .b32 t; min.u32 t, %0, %1; min.u32 %0, t, %2; }", $, a, b))",
                     "min.u32", "VIMNMX3", 90, "the smallest of three unsigned integers")),
        of_two(
            fused("vimax3.s16x2", b32,
                  R"(OP_R("{ .reg .b32 t; max.s16x2 t, %0, %1; max.s16x2 %0, t, %2; }", $, a, b))",
                  "max.s16x2", "VIMNMX3", 90, "the largest of three integers, 16 bits twice")),
        fused("add.s16x2", b32, R"(OP_R("add.s16x2 %0, %0, %1;", $, a, b))", "add.s16x2", "VIADD",
              90, "addition of 16-bit integers, two in a register"),
    };
}

std::vector<Row> blackwell() {
    std::vector<Row> rows = {
        fused("add.f32x2", s64, R"(OP_L("add.rn.f32x2 %0, %0, %1;", $, a, b))", "add.rn.f32x2",
              "FADD2", 100, "addition, single precision, two in a pair of registers"),
        fused("mul.f32x2", s64, R"(OP_L("mul.rn.f32x2 %0, %0, %1;", $, a, b))", "mul.rn.f32x2",
              "FMUL2", 100, "multiplication, single precision, two in a pair of registers"),
        fused("fma.f32x2", s64, R"(OP_L("fma.rn.f32x2 %0, %0, %1, %2;", $, a, b))", "fma.rn.f32x2",
              "FFMA2", 100, "multiply-add, single precision, two in a pair of registers"),
        fused("max3.f32", f32, R"(OP_F("max.f32 %0, %0, %1, %2;", $, a, b))", "max.f32", "FMNMX3",
              100, "the largest of three numbers, single precision"),
        fused("min3.f32", f32, R"(OP_F("min.f32 %0, %0, %1, %2;", $, a, b))", "min.f32", "FMNMX3",
              100, "the smallest of three numbers, single precision"),
        fused("redux.sync.min.f32", f32, R"(OP_F("redux.sync.min.f32 %0, %0, -1;", $, a, b))",
              "redux.sync.min.f32", "CREDUX", 100,
              "smallest of a warp's numbers, single precision"),
    };
    for (Row& row : rows) {
        if (row.type == s64) {  // pairs: 1/2 and 3/4 (a of mul: 1), from 1 on
            row.a = row.id == "mul.f32x2" ? 0x3f8000003f800000p0 : 0x3f0000003f000000p0;
            row.b = 0x3f4000003f400000p0;
            row.x = 0x3f8000003f800000p0;
        }
        if (row.id == "redux.sync.min.f32") {
            row.architecture_features = true;
            row.sass_also = "the value arrives in a uniform register and is moved back";
            row.sass_length = 2;
            row.lanes_matter = true;
        }
    }
    // The fifth generation of matrix units works on a memory of its own.
    for (const std::string_view id : {"tcgen05.mma", "tcgen05.ld", "tcgen05.st", "tcgen05.cp"}) {
        Row row = fused(id, f32, "", "", "", 100, "matrix unit on tensor memory");
        row.foldable = false;
        rows.push_back(row);
    }
    return rows;
}

}  // namespace

std::span<const Row> cuda_fused_rows() {
    static const std::vector<Row> rows = [] {
        std::vector<Row> all = dynamic_programming();
        for (const Row& row : blackwell()) all.push_back(row);
        return all;
    }();
    return rows;
}

}  // namespace occupipe::bench
