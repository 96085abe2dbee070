// SPDX-License-Identifier: MIT
// Where the elements of matrices lie in a warp's registers and in shared memory, by the figures of
// the PTX ISA: one element of A, one of B, and the one place of D where their product has to be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <string>

#include "tests/ptx/machine.h"
#include "tests/ptx/matrix.h"

namespace occupipe::ptx {
namespace {

using ::testing::ElementsAre;

constexpr std::uint64_t out_address = 0x10000;

// Four words of each thread: %r20 to %r23.
struct Executed {
    std::vector<Buffer> buffers;

    std::uint32_t word(std::size_t thread, std::size_t index) const {
        std::uint32_t value = 0;
        std::memcpy(&value, &buffers[0].bytes[16 * thread + 4 * index], 4);
        return value;
    }
    // All words that are not zero, as "thread:word=value".
    std::vector<std::string> all() const {
        std::vector<std::string> result;
        for (std::size_t at = 0; at < buffers[0].bytes.size() / 4; ++at) {
            if (const std::uint32_t value = word(at / 4, at % 4)) {
                result.push_back(std::to_string(at / 4) + ":" + std::to_string(at % 4) + "=" +
                                 std::to_string(value));
            }
        }
        return result;
    }
};

Executed execute(const std::string& body, unsigned threads = 32) {
    std::string zero;
    for (int i = 0; i < 24; ++i) zero += "mov.u32 %r" + std::to_string(i) + ", 0; ";
    Executed result;
    result.buffers = {{"out", out_address, std::vector<std::byte>(std::size_t{16} * threads)}};
    run(parse(".version 9.0\n.target sm_90a\n.extern .shared .align 16 .b8 shared[];\n"
              ".visible .entry k(\n.param .u64 k_param_0\n)\n{\n"
              ".reg .pred %p<8>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<8>;\n" +
              zero +
              "ld.param.u64 %rd0, [k_param_0]; mov.u32 %r30, %tid.x; mov.u64 %rd1, shared; "
              "cvt.u32.u64 %r31, %rd1; mul.wide.u32 %rd1, %r30, 16; add.s64 %rd1, %rd0, %rd1;\n" +
              body + "\nst.global.v4.u32 [%rd1], {%r20, %r21, %r22, %r23};\nret;\n}\n"),
        {.groups = 1,
         .threads = threads,
         .shared_bytes = 16384,
         .arguments = {out_address},
         .most_steps = 1'000'000},
        result.buffers);
    return result;
}

// Sets a register in one lane.
std::string in_lane(int lane, const char* reg, std::uint32_t value) {
    return "setp.eq.u32 %p1, %r30, " + std::to_string(lane) + "; @%p1 mov.u32 " + reg + ", " +
           std::to_string(value) + ";\n";
}

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

const std::string dense_s8 =
    "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r20, %r21, %r22, %r23}, {%r0, %r1, %r2, "
    "%r3}, {%r4, %r5}, {%r20, %r21, %r22, %r23};";

// Lane 5: row 1, bytes of columns 4 to 7. Lane 13: column 3 of B.
TEST(PtxMatrix, BytesOfAProductLieWhereTheFiguresSay) {
    EXPECT_THAT(execute(in_lane(5, "%r0", 7 << 16) + in_lane(13, "%r4", 3 << 16) + dense_s8).all(),
                ElementsAre("5:1=21"));
    EXPECT_THAT(execute(in_lane(5, "%r3", 7 << 16) + in_lane(13, "%r5", 3 << 16) + dense_s8).all(),
                ElementsAre("5:3=21"));
    EXPECT_THAT(
        execute(in_lane(5, "%r1", 0xfe) + in_lane(13, "%r4", 3) + dense_s8 + dense_s8).all(),
        ElementsAre("5:3=4294967284"));  // -2 · 3, twice
    EXPECT_THAT(execute(in_lane(5, "%r0", 7 << 16) + in_lane(13, "%r4", 3 << 8) + dense_s8).all(),
                ElementsAre());  // column 6 of A, row 5 of B
}

TEST(PtxMatrix, EveryTypeHasItsValues) {
    const auto product = [](const char* type, std::uint32_t a, std::uint32_t b) {
        const std::string names = std::string(type) + "." + type;
        return execute(in_lane(0, "%r0", a) + in_lane(0, "%r4", b) +
                       "mma.sync.aligned.m16n8k32.row.col.f32." + names +
                       ".f32 {%r20, %r21, %r22, %r23}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%r20, "
                       "%r21, %r22, %r23};")
            .word(0, 0);
    };
    EXPECT_EQ(product("e4m3", 0x7e, 0x38), bits(448));
    EXPECT_EQ(product("e4m3", 0x81, 0x38), bits(-0.001953125f));
    EXPECT_EQ(product("e5m2", 0x7b, 0x3c), bits(57344));
    EXPECT_EQ(element_value(0x1f, "e2m3"), 7.5);
    EXPECT_EQ(element_value(0x1f, "e3m2"), 28);
    EXPECT_EQ(element_value(0x1c, "e2m1"), 6);
    EXPECT_EQ(element_value(0x3fffffff, "tf32"), 1.9990234375);
    EXPECT_EQ(element_value(15, "s4"), -1);
    EXPECT_THROW(element_value(0x7f, "e4m3"), Fault);
    EXPECT_THROW(element_value(0x7c00, "f16"), Fault);
}

TEST(PtxMatrix, HalvesAndDoublesLieWhereTheFiguresSay) {
    // Lane 5: row 1 (and 9), columns 2, 3 (and 10, 11).
    const std::string halves =
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r20, %r21, %r22, %r23}, {%r0, %r1, "
        "%r2, %r3}, {%r4, %r5}, {%r20, %r21, %r22, %r23};";
    EXPECT_THAT(
        execute(in_lane(5, "%r3", 0x40000000) + in_lane(13, "%r5", 0x42000000) + halves).all(),
        ElementsAre("5:3=" + std::to_string(bits(6))));
    const std::string halved =
        "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r20, %r21}, {%r0, %r1, %r2, %r3}, "
        "{%r4, %r5}, {%r20, %r21};";
    EXPECT_THAT(
        execute(in_lane(5, "%r3", 0x40000000) + in_lane(13, "%r5", 0x42000000) + halved).all(),
        ElementsAre("5:1=" + std::to_string(0x46000000)));
    // Lane 6: row 1, column 2; twice 2 · 3.
    const std::string doubles =
        "mov.b64 %rd2, {%r0, %r1}; mov.b64 %rd3, {%r2, %r3}; mov.b64 %rd4, {%r20, %r21}; mov.b64 "
        "%rd5, %rd4;\nmma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%rd4, %rd5}, {%rd2}, "
        "{%rd3}, {%rd4, %rd5};\nmov.b64 {%r20, %r21}, %rd5;";
    EXPECT_THAT(
        execute(in_lane(6, "%r1", 0x40000000) + in_lane(14, "%r3", 0x40080000) + doubles).all(),
        ElementsAre("5:1=" + std::to_string(0x40180000)));
}

TEST(PtxMatrix, MetadataSaysWhereASparseRowsElementsStand) {
    const auto seen = [](std::uint32_t metadata, int lane_of_b) {
        return execute(in_lane(5, "%r0", 0x4000) + in_lane(lane_of_b, "%r4", 0x4200) +
                       "mov.u32 %r8, " + std::to_string(metadata) +
                       "; mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 "
                       "{%r20, %r21, %r22, %r23}, {%r0, %r1, %r2, %r3}, {%r4, %r5, %r6, %r7}, "
                       "{%r20, %r21, %r22, %r23}, %r8, 0;")
            .all();
    };
    // The third element that is kept of row 1: column 4 or 6.
    EXPECT_THAT(seen(0x44444444, 14), ElementsAre("5:1=" + std::to_string(bits(6))));
    EXPECT_THAT(seen(0x44444444, 15), ElementsAre());
    EXPECT_THAT(seen(0xeeeeeeee, 15), ElementsAre("5:1=" + std::to_string(bits(6))));
    EXPECT_THROW(seen(0x44444440, 14), NotUnderstood);
    EXPECT_THROW(seen(0x11111111, 14), NotUnderstood);  // 1 before 0
}

// Half i of shared memory holds i; row r of matrix m lies at byte 128 m + 16 r.
const std::string counted_halves =
    "mul.lo.u32 %r32, %r30, 16; add.u32 %r33, %r32, %r31; mul.lo.u32 %r34, %r30, 0x80008; "
    "add.u32 %r34, %r34, 0x10000; st.shared.u32 [%r33], %r34; add.u32 %r34, %r34, 0x20002; "
    "st.shared.u32 [%r33+4], %r34; add.u32 %r34, %r34, 0x20002; st.shared.u32 [%r33+8], %r34; "
    "add.u32 %r34, %r34, 0x20002; st.shared.u32 [%r33+12], %r34;\n";

TEST(PtxMatrix, MatricesAreLoadedByRowsOrByColumns) {
    const Executed rows =
        execute(counted_halves +
                "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r20, %r21, %r22, %r23}, [%r33];");
    EXPECT_EQ(rows.word(0, 0), 0x00010000u);
    EXPECT_EQ(rows.word(6, 0), 0x000d000cu);  // row 1, columns 4 and 5
    EXPECT_EQ(rows.word(6, 3), 0x00cd00ccu);
    const Executed columns =
        execute(counted_halves +
                "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r20, %r21, %r22, %r23}, [%r33];");
    EXPECT_EQ(columns.word(6, 0), 0x00290021u);  // column 1 of rows 4 and 5
    EXPECT_EQ(columns.word(6, 2), 0x00a900a1u);
    const Executed moved = execute(counted_halves +
                                   "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%r33]; "
                                   "movmatrix.sync.aligned.m8n8.trans.b16 %r20, %r0;");
    EXPECT_EQ(moved.word(6, 0), 0x00290021u);
    EXPECT_THROW(execute("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%r31+8];"), Fault);
}

TEST(PtxMatrix, WhatIsStoredCanBeLoaded) {
    for (const std::string how : {"", ".trans"}) {
        std::string body =
            "mul.lo.u32 %r32, %r30, 16; add.u32 %r33, %r32, %r31; mul.lo.u32 %r20, %r30, "
            "0x10003; add.u32 %r21, %r20, 1000;\n";
        body += "stmatrix.sync.aligned.m8n8.x2";
        body += how;
        body += ".shared.b16 [%r33], {%r20, %r21}; ldmatrix.sync.aligned.m8n8.x2";
        body += how;
        body += ".shared.b16 {%r22, %r23}, [%r33];";
        const Executed seen = execute(body);
        for (std::size_t lane = 0; lane < 32; ++lane) {
            EXPECT_EQ(seen.word(lane, 2), lane * 0x10003) << how;
            EXPECT_EQ(seen.word(lane, 3), lane * 0x10003 + 1000) << how;
        }
    }
}

// A from byte 0, B from byte 2048, both in blocks of eight rows of 16 bytes: 128 apart along a row,
// 256 from eight rows to the next.
TEST(PtxMatrix, AWarpGroupsProductTakesItsMatricesFromSharedMemory) {
    // A[17][11] = 2: block 2, second half, row 1; B[11][10] = 3: column 10 is line 2 of block 1.
    const std::string elements =
        "setp.eq.u32 %p2, %r30, 0; mov.u32 %r0, 0x40000000; mov.u32 %r1, 0x42000000;\n"
        "mov.u32 %r2, %r31; mov.u32 %r3, 0; mul.lo.u32 %r4, %r30, 128; add.u32 %r4, %r4, %r31; "
        "$AGAIN:\nst.shared.u32 [%r4], 0; add.u32 %r4, %r4, 4; add.u32 %r3, %r3, 4; setp.lt.u32 "
        "%p3, %r3, 128; @%p3 bra $AGAIN; bar.sync 0;\n@%p2 st.shared.u32 [%r31+660], %r0; @%p2 "
        "st.shared.u32 [%r31+2468], %r1; bar.sync 0;\n";
    const std::string descriptors =
        "shr.u32 %r5, %r31, 4; cvt.u64.u32 %rd2, %r5; add.s64 %rd2, %rd2, 0x1000080000; add.s64 "
        "%rd3, %rd2, 128; setp.eq.u32 %p4, 0, 0;\n";
    const std::string multiply =
        "wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%r10, %r11, "
        "%r12, %r13, %r20, %r15, %r16, %r17}, %rd2, %rd3, %p4, 1, 1, 0, 0; "
        "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;";
    // Row 17: second warp, its row 1; column 10: element 4 of lane 5.
    EXPECT_THAT(execute(elements + descriptors + multiply, 128).all(),
                ElementsAre(std::to_string(32 + 5) + ":0=" + std::to_string(bits(6))));
    EXPECT_THAT(execute(elements + descriptors + multiply + multiply, 128).all(),
                ElementsAre(std::to_string(32 + 5) + ":0=" + std::to_string(bits(12))));
}

}  // namespace
}  // namespace occupipe::ptx
