// SPDX-License-Identifier: MIT
#include <vector>

#include "bench/cuda/cuda_rows.h"

namespace occupipe::bench {
namespace {

using enum DataType;
using enum Pattern;

Row multiply_add(std::string_view id, std::string_view step, std::string_view meaning) {
    Row row{};
    row.id = id;
    row.type = f32;
    row.pattern = chain;
    row.step = step;
    row.a = 0.5;
    row.b = 0.75;
    row.x = 1;
    row.ptx = "fma.rn.f32";
    row.sass = "FFMA";
    row.x86 = "vfn?madd\\d+ss";
    row.meaning = meaning;
    return row;
}

// The same instruction in a loop body of another length: short ones show the loop's own cost, long
// ones the instruction caches.
Row body(std::string_view id, int instructions, std::string_view meaning) {
    Row row = multiply_add(id, "FMA_F32($, a, b)", meaning);
    row.unroll = instructions;
    row.most_chains = 1;
    row.counters = {{{body_length_counter, static_cast<double>(instructions)}, {}}};
    return row;
}

// The warp's lanes take `paths` different ways, an instruction on each.
Row paths(std::string_view id, std::string_view step, int paths, std::string_view meaning) {
    Row row = multiply_add(id, step, meaning);
    row.b = 0;
    row.ptx_count = paths;
    row.sass_count = paths;
    row.sass_length = 4 * paths;
    row.unroll = paths > 8 ? 4 : 8;
    row.most_chains = 1;
    row.sass_also = "the branches that lead the lanes apart and together again";
    row.x86 = {};
    row.lanes_matter = true;
    row.counters = {{{"paths", static_cast<double>(paths)}, {}}};
    return row;
}

Row barrier_row(std::string_view id, std::string_view step, std::string_view ptx,
                std::string_view sass, std::string_view also, std::string_view meaning) {
    Row row{};
    row.id = id;
    row.type = u32;
    row.pattern = chain;
    row.step = step;
    row.ptx = ptx;
    row.sass = sass;
    row.sass_also = also;
    row.order = Order::waits;
    row.most_chains = 1;
    row.meaning = meaning;
    return row;
}

std::vector<Row> make_rows() {
    std::vector<Row> rows = {
        body("fma.f32.body1", 1, "multiply-add in a loop of one"),
        body("fma.f32.body4", 4, "multiply-add in a loop of 4: the loop's own cost shows"),
        body("fma.f32.body16", 16, "multiply-add in a loop of 16"),
        body("fma.f32.body512", 512, "multiply-add in a loop of 512 (8 KiB of machine code)"),
        body("fma.f32.body2048", 2048, "multiply-add in a loop of 2048 (32 KiB of machine code)"),
        body("fma.f32.body8192", 8192, "multiply-add in a loop of 8192 (128 KiB of machine code)"),
        multiply_add("fma.f32.same", R"(OP_F("fma.rn.f32 %0, %0, %0, %0;", $, a, b))",
                     "multiply-add whose operands are one register"),
        multiply_add("fma.f32.immediate", R"(OP_F("fma.rn.f32 %0, %0, 0f3F000000, %2;", $, a, b))",
                     "multiply-add with a multiplicand that stands in the instruction"),
        multiply_add("fma.f32.uniform",
                     R"(OP_F("fma.rn.f32 %0, %0, %1, %2;", $, __uint_as_float(start), b))",
                     "multiply-add with a multiplicand that all lanes share (constant bank or "
                     "uniform register)"),
        paths("fma.f32.paths2", "DIVERGE_2($)", 2, "a multiply-add on each of 2 divergent paths"),
        paths("fma.f32.paths4", "DIVERGE_4($)", 4, "a multiply-add on each of 4 divergent paths"),
        paths("fma.f32.paths8", "DIVERGE_8($)", 8, "a multiply-add on each of 8 divergent paths"),
        paths("fma.f32.paths16", "DIVERGE_16($)", 16,
              "a multiply-add on each of 16 divergent paths"),
        paths("fma.f32.paths32", "DIVERGE_32($)", 32,
              "a multiply-add on each of 32 divergent paths"),
        barrier_row("barrier.cluster", "CLUSTER_BARRIER($)", "barrier.cluster.arrive.aligned",
                    "UCGABAR", "the fence that an arrival implies",
                    "barrier of a cluster of two groups"),
        barrier_row("barrier.grid", "GRID_BARRIER($)", "red.release.gpu.global.add.u64", "REDG|RED",
                    "two barriers of the group, a fence, and looking until all groups have come",
                    "barrier of all groups of a launch, made of an atomic counter"),
    };
    for (Row& row : rows) {
        if (row.id == "fma.f32.same") {
            row.x = -0.5;  // x x + x: slowly towards zero
            row.most_chains = 4;
        }
        if (row.id == "barrier.cluster") {
            row.least_architecture = 90;
            row.cluster = 2;
            row.sass_count = 2;  // arrival and wait
        }
        if (row.id == "barrier.grid") {
            row.state = "GridBarrier";
            row.unroll = 4;
            row.sass_length = 24;
        }
    }
    return rows;
}

}  // namespace

std::span<const Row> cuda_behaviour_rows() {
    static const std::vector<Row> rows = make_rows();
    return rows;
}

}  // namespace occupipe::bench
