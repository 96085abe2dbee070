// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "bench/cuda/cuda_rows.h"

namespace occupipe::bench {
namespace {

using enum DataType;
using enum Pattern;

// Texts that rows view.
std::string_view kept(std::string text) {
    static std::deque<std::string> all;
    return all.emplace_back(std::move(text));
}

// Chained through the accumulator: D = A B + D. `operations`: multiplications and additions that
// are done; of a sparse A, those with elements that are there.
// `macro`: of matrix_macros.cpp, around the instruction.
Row product(std::string_view id, std::string_view state, std::string_view macro,
            std::string_view ptx, std::string_view sass, int least_architecture, double operations,
            std::string_view meaning) {
    Row row{};
    row.id = id;
    row.type = b32;
    row.pattern = chain;
    row.state = state;
    row.step = kept(fmt::format(R"({}("{}", $))", macro, ptx));
    row.a = 1;
    row.b = 1;
    row.x = 1;
    row.ptx = ptx;
    row.sass = sass;
    row.least_architecture = least_architecture;
    row.sass_also = "no-operations that the assembler puts between dependent ones";
    row.sass_length = 2;
    row.counters = {{{"operations", operations}, {}}};
    row.meaning = meaning;
    row.most_chains = 4;
    return row;
}

Row only_on_hopper(Row row) {
    row.last_architecture = 90;
    row.unroll = 32;
    return row;
}

Row until(int architecture, Row row) {
    row.last_architecture = architecture;
    return row;
}

Row with_features(Row row) {
    row.architecture_features = true;
    return row;
}

#define HALVES "0x83ff83ffu, 0x34003400u"
#define BFLOATS "0x807f807fu, 0x3e803e80u"
#define TF32S "0x807fe000u, 0x3e800000u"
#define E4M3S "0x87878787u, 0x28282828u"
#define E5M2S "0x83838383u, 0x34343434u"
#define E3M2S "0x23232323u, 0x08080808u"
#define E2M3S "0x27272727u, 0x08080808u"
#define E2M1S "0x24242424u, 0x08080808u"
#define INTEGERS "0xffffffffu, 0u"

std::vector<Row> dense_rows() {
    return {
        product("mma.m16n8k32.f32.e4m3", "Product<float, 4, 4, 2, " E4M3S ">", "PRODUCT_F4_42",
                "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", "QMMA", 89,
                2.0 * 16 * 8 * 32, "a warp's matrix multiply-add 16x8x32, e4m3 into single"),
        product("mma.m16n8k32.f32.e5m2", "Product<float, 4, 4, 2, " E5M2S ">", "PRODUCT_F4_42",
                "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32", "QMMA", 89,
                2.0 * 16 * 8 * 32, "a warp's matrix multiply-add 16x8x32, e5m2 into single"),
        product("mma.m16n8k32.f16.e4m3", "Product<uint, 2, 4, 2, " E4M3S ">", "PRODUCT_R2_42",
                "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16", "QMMA", 89,
                2.0 * 16 * 8 * 32, "a warp's matrix multiply-add 16x8x32, e4m3 into half"),
        with_features(product(
            "mma.m16n8k32.f32.e3m2", "Product<float, 4, 4, 2, " E3M2S ">", "PRODUCT_F4_42",
            "mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e3m2.e3m2.f32", "QMMA", 120,
            2.0 * 16 * 8 * 32, "a warp's matrix multiply-add 16x8x32, e3m2 (6 bits) into single")),
        with_features(product(
            "mma.m16n8k32.f32.e2m3", "Product<float, 4, 4, 2, " E2M3S ">", "PRODUCT_F4_42",
            "mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e2m3.e2m3.f32", "QMMA", 120,
            2.0 * 16 * 8 * 32, "a warp's matrix multiply-add 16x8x32, e2m3 (6 bits) into single")),
        with_features(product(
            "mma.m16n8k32.f32.e2m1", "Product<float, 4, 4, 2, " E2M1S ">", "PRODUCT_F4_42",
            "mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e2m1.e2m1.f32", "QMMA", 120,
            2.0 * 16 * 8 * 32,
            "a warp's matrix multiply-add 16x8x32, e2m1 (4 bits, a byte each) into single")),
        until(89, product("mma.m16n8k64.s32.s4", "Product<int, 4, 4, 2, " INTEGERS ">",
                          "PRODUCT_R4_42", "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32",
                          "IMMA", 80, 2.0 * 16 * 8 * 64,
                          "a warp's matrix multiply-add 16x8x64, four-bit integers")),
        until(90,
              product("mma.m16n8k256.s32.b1", "Product<int, 4, 4, 2, " INTEGERS ">",
                      "PRODUCT_R4_42", "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc",
                      "BMMA", 80, 2.0 * 16 * 8 * 256,
                      "a warp's matrix multiply-add 16x8x256, single bits: and, count, add")),
        only_on_hopper(product("mma.m16n8k4.f64", "ProductF64<4, 2, 1>", "PRODUCT_D4_21",
                               "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64", "DMMA", 90,
                               2.0 * 16 * 8 * 4,
                               "a warp's matrix multiply-add 16x8x4, double precision")),
        only_on_hopper(product("mma.m16n8k8.f64", "ProductF64<4, 4, 2>", "PRODUCT_D4_42",
                               "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64", "DMMA", 90,
                               2.0 * 16 * 8 * 8,
                               "a warp's matrix multiply-add 16x8x8, double precision")),
        only_on_hopper(product("mma.m16n8k16.f64", "ProductF64<4, 8, 4>", "PRODUCT_D4_84",
                               "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64", "DMMA", 90,
                               2.0 * 16 * 8 * 16,
                               "a warp's matrix multiply-add 16x8x16, double precision")),
    };
}

std::vector<Row> sparse_rows() {
    return {
        product("mma.sp.m16n8k32.f32.f16", "Product<float, 4, 4, 4, " HALVES ">",
                "PRODUCT_SPARSE_F4_44",
                "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", "HMMA",
                80, 2.0 * 16 * 8 * 16,
                "a warp's matrix multiply-add 16x8x32 with two of four of A, half into single"),
        product("mma.sp.m16n8k32.f16.f16", "Product<uint, 2, 4, 4, " HALVES ">",
                "PRODUCT_SPARSE_R2_44",
                "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16", "HMMA",
                80, 2.0 * 16 * 8 * 16,
                "a warp's matrix multiply-add 16x8x32 with two of four of A, half precision"),
        product("mma.sp.m16n8k32.f32.bf16", "Product<float, 4, 4, 4, " BFLOATS ">",
                "PRODUCT_SPARSE_F4_44",
                "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32", "HMMA",
                80, 2.0 * 16 * 8 * 16,
                "a warp's matrix multiply-add 16x8x32 with two of four of A, bfloat16 into single"),
        product(
            "mma.sp.m16n8k16.f32.tf32", "Product<float, 4, 4, 4, " TF32S ">",
            "PRODUCT_SPARSE_F4_44",
            "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32", "HMMA", 80,
            2.0 * 16 * 8 * 8,
            "a warp's matrix multiply-add 16x8x16 with one of two of A, 19-bit floats into single"),
        product("mma.sp.m16n8k64.s32.s8", "Product<int, 4, 4, 4, " INTEGERS ">",
                "PRODUCT_SPARSE_R4_44",
                "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32", "IMMA", 80,
                2.0 * 16 * 8 * 32,
                "a warp's matrix multiply-add 16x8x64 with two of four of A, bytes into integers"),
        product("mma.sp.m16n8k64.f32.e4m3", "Product<float, 4, 4, 4, " E4M3S ">",
                "PRODUCT_SPARSE_F4_44",
                "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.e4m3.e4m3.f32", "QMMA",
                89, 2.0 * 16 * 8 * 32,
                "a warp's matrix multiply-add 16x8x64 with two of four of A, e4m3 into single"),
    };
}

Row load(std::string_view id, std::string_view setup, std::string_view step, std::string_view ptx,
         int matrices, std::string_view meaning) {
    Row row{};
    row.id = id;
    row.type = u32;
    row.pattern = chain;
    row.state = "MatrixWalk";
    row.setup = setup;
    row.step = step;
    row.ptx = ptx;
    row.sass = "LDSM";
    row.shared_bytes = 4096;
    row.counters = {{{"access_bytes", 4.0 * matrices}, {}}};
    row.meaning = meaning;
    if (matrices > 1) {
        row.sass_also = "the sum that the other matrices go into, off the chain";
        row.most_chains = 4;
    }
    return row;
}

Row store(std::string_view id, std::string_view step, std::string_view ptx, int matrices,
          std::string_view meaning) {
    Row row{};
    row.id = id;
    row.type = u32;
    row.pattern = chain;
    row.state = "MatrixStore";
    row.step = step;
    row.x = 1;
    row.ptx = ptx;
    row.sass = "STSM";
    row.least_architecture = 90;
    row.order = Order::none;
    row.shared_bytes = 4096;
    row.counters = {{{"access_bytes", 4.0 * matrices}, {}}};
    row.most_chains = 1;
    row.meaning = meaning;
    return row;
}

std::vector<Row> move_rows() {
    std::vector<Row> rows = {
        load("ldmatrix.x1", "MATRIX_RING(0)",
             R"(LDMATRIX_1("ldmatrix.sync.aligned.m8n8.x1.shared.b16", $))",
             "ldmatrix.sync.aligned.m8n8.x1.shared.b16", 1,
             "dependent load of an 8x8 matrix of halves from shared memory"),
        load("ldmatrix.x2", "MATRIX_RING(0)",
             R"(LDMATRIX_2("ldmatrix.sync.aligned.m8n8.x2.shared.b16", $))",
             "ldmatrix.sync.aligned.m8n8.x2.shared.b16", 2,
             "dependent load of two 8x8 matrices of halves from shared memory"),
        load("ldmatrix.x4", "MATRIX_RING(0)",
             R"(LDMATRIX_4("ldmatrix.sync.aligned.m8n8.x4.shared.b16", $))",
             "ldmatrix.sync.aligned.m8n8.x4.shared.b16", 4,
             "dependent load of four 8x8 matrices of halves from shared memory"),
        load("ldmatrix.x1.trans", "MATRIX_RING(1)",
             R"(LDMATRIX_1("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16", $))",
             "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16", 1,
             "dependent load of an 8x8 matrix of halves, transposed"),
        load("ldmatrix.x4.trans", "MATRIX_RING(1)",
             R"(LDMATRIX_4("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", $))",
             "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", 4,
             "dependent load of four 8x8 matrices of halves, transposed"),
        store("stmatrix.x1", R"(STMATRIX_1("stmatrix.sync.aligned.m8n8.x1.shared.b16", $, #))",
              "stmatrix.sync.aligned.m8n8.x1.shared.b16", 1,
              "store of an 8x8 matrix of halves to shared memory"),
        store("stmatrix.x2", R"(STMATRIX_2("stmatrix.sync.aligned.m8n8.x2.shared.b16", $, #))",
              "stmatrix.sync.aligned.m8n8.x2.shared.b16", 2,
              "store of two 8x8 matrices of halves to shared memory"),
        store("stmatrix.x4", R"(STMATRIX_4("stmatrix.sync.aligned.m8n8.x4.shared.b16", $, #))",
              "stmatrix.sync.aligned.m8n8.x4.shared.b16", 4,
              "store of four 8x8 matrices of halves to shared memory"),
        store("stmatrix.x4.trans",
              R"(STMATRIX_4("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16", $, #))",
              "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16", 4,
              "store of four 8x8 matrices of halves to shared memory, transposed"),
    };
    Row transpose{};
    transpose.id = "movmatrix.trans";
    transpose.type = b32;
    transpose.pattern = chain;
    transpose.step = R"(OP_R("movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;", $, a, b))";
    transpose.x = 5;
    transpose.ptx = "movmatrix.sync.aligned.m8n8.trans.b16";
    transpose.sass = "MOVM";
    transpose.least_architecture = 75;
    transpose.meaning = "transposition of an 8x8 matrix of halves in a warp's registers";
    rows.push_back(transpose);
    for (Row& row : rows) {
        row.lanes_matter = true;
        row.least_architecture = std::max(row.least_architecture, 75);
    }
    return rows;
}

}  // namespace

std::span<const Row> cuda_product_rows() {
    static const std::vector<Row> rows = [] {
        std::vector<Row> all = dense_rows();
        for (const auto& more : {sparse_rows(), move_rows()}) {
            all.insert(all.end(), more.begin(), more.end());
        }
        return all;
    }();
    return rows;
}

}  // namespace occupipe::bench
