// SPDX-License-Identifier: MIT
// The interpreter against what the PTX ISA says, worked out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>

#include "tests/ptx/machine.h"

namespace occupipe::ptx {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t out_address = 0x10000;

std::string kernel(const std::string& body) {
    return ".version 9.0\n.target sm_90\n.extern .shared .align 16 .b8 shared[];\n"
           ".visible .entry k(\n.param .u64 k_param_0,\n.param .u32 k_param_1\n)\n{\n"
           ".reg .pred %p<8>;\n.reg .b32 %r<16>;\n.reg .f32 %f<8>;\n.reg .b64 %rd<8>;\n"
           "ld.param.u64 %rd0, [k_param_0];\nld.param.u32 %r0, [k_param_1];\nmov.u32 %r1, %tid.x;\n"
           "mul.wide.u32 %rd1, %r1, 8;\nadd.s64 %rd1, %rd0, %rd1;\n" +
           body + "\nret;\n}\n";
}

struct Executed {
    std::vector<Buffer> buffers;
    Outcome outcome;

    // What a thread left in its 8 bytes.
    std::uint64_t left(std::size_t thread) const {
        std::uint64_t value = 0;
        std::memcpy(&value, &buffers[0].bytes[8 * thread], 8);
        return value;
    }
};

Executed execute(const std::string& body, unsigned threads = 32, unsigned groups = 1) {
    Executed result;
    result.buffers = {{"out", out_address, std::vector<std::byte>(std::size_t{8} * threads)}};
    result.outcome = run(parse(kernel(body)),
                         {.groups = groups,
                          .threads = threads,
                          .shared_bytes = 4096,
                          .arguments = {out_address, 7},
                          .most_steps = 100'000},
                         result.buffers);
    return result;
}

// `instruction` makes %r9 of %r2, %r3, %r4.
std::uint32_t word(const std::string& instruction, std::uint32_t a, std::uint32_t b = 0,
                   std::uint32_t c = 0) {
    return static_cast<std::uint32_t>(execute("mov.u32 %r2, " + std::to_string(a) +
                                              "; mov.u32 %r3, " + std::to_string(b) +
                                              "; mov.u32 %r4, " + std::to_string(c) + "; " +
                                              instruction + "; st.global.u32 [%rd1], %r9;")
                                          .left(0));
}

std::string fault(const std::string& body, unsigned threads = 32) {
    try {
        execute(body, threads);
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return "nothing";
}

TEST(PtxMachine, IntegersWrapAndKeepTheirSigns) {
    EXPECT_EQ(word("add.s32 %r9, %r2, %r3", 0xffffffff, 2), 1u);
    EXPECT_EQ(word("mul.hi.s32 %r9, %r2, %r3", 0xffffffff, 5), 0xffffffffu);
    EXPECT_EQ(word("mul.hi.u32 %r9, %r2, %r3", 0xffffffff, 5), 4u);
    EXPECT_EQ(word("mad.lo.s32 %r9, %r2, %r3, %r4", 0x10000, 0x10000, 9), 9u);
    EXPECT_EQ(word("shr.s32 %r9, %r2, %r3", 0x80000000, 40), 0xffffffffu);
    EXPECT_EQ(word("shr.u32 %r9, %r2, %r3", 0x80000000, 31), 1u);
    EXPECT_EQ(word("shl.b32 %r9, %r2, %r3", 1, 32), 0u);
    EXPECT_EQ(word("div.s32 %r9, %r2, %r3", 0xfffffff9, 2), 0xfffffffdu);
    EXPECT_EQ(word("rem.s32 %r9, %r2, %r3", 0xfffffff9, 2), 0xffffffffu);
    EXPECT_EQ(word("min.s32 %r9, %r2, %r3", 0xffffffff, 1), 0xffffffffu);
    EXPECT_EQ(word("min.u32 %r9, %r2, %r3", 0xffffffff, 1), 1u);
    EXPECT_EQ(word("sad.u32 %r9, %r2, %r3, %r4", 3, 8, 10), 15u);
    EXPECT_EQ(word("add.cc.u32 %r8, %r2, %r3; addc.u32 %r9, %r4, 0", 0xffffffff, 1, 4), 5u);
}

TEST(PtxMachine, PairsOfNumbersDoNotTouchEachOther) {
    EXPECT_EQ(word("add.s16x2 %r9, %r2, %r3", 0x0001ffff, 0x00020001), 0x00030000u);
    EXPECT_EQ(word("max.s16x2 %r9, %r2, %r3", 0x0001ffff, 0x00020001), 0x00020001u);
    EXPECT_EQ(word("min.u16x2 %r9, %r2, %r3", 0x0001ffff, 0x00020001), 0x00010001u);
    EXPECT_EQ(word("max.s16x2.relu %r9, %r2, %r3", 0xfffe0007, 0xffff0001), 0x00000007u);
    EXPECT_EQ(word("max.s32.relu %r9, %r2, %r3", 0xfffffffe, 0xffffffff), 0u);
    EXPECT_EQ(word("min.s32 %r9, %r2, %r3", 0xfffffffe, 7), 0xfffffffeu);
    EXPECT_EQ(word("mov.b64 %rd2, {%r2, %r3}; mov.b64 %rd3, {%r4, %r2}; fma.rn.f32x2 %rd4, %rd2, "
                   "%rd3, %rd2; mov.b64 {%r8, %r9}, %rd4",
                   0x40000000, 0x40400000, 0x3f800000),
              0x41100000u);  // 3 · 2 + 3
    EXPECT_EQ(word("mov.b32 %f0, %r2; mov.b32 %f1, %r3; max.f32 %f2, %f0, %f0, %f1; mov.b32 %r9, "
                   "%f2",
                   0x40000000, 0x40400000),
              0x40400000u);
}

TEST(PtxMachine, BitsMoveAsTheyShould) {
    EXPECT_EQ(word("prmt.b32 %r9, %r2, %r3, %r4", 0x33221100, 0x77665544, 0x7041), 0x77004411u);
    EXPECT_EQ(word("prmt.b32 %r9, %r2, %r3, %r4", 0x00000080, 0, 0x8888), 0xffffffffu);
    EXPECT_EQ(word("lop3.b32 %r9, %r2, %r3, %r4, 0x96", 0b1100, 0b1010, 0b0110), 0u);
    EXPECT_EQ(word("lop3.b32 %r9, %r2, %r3, %r4, 0xe8", 0b1100, 0b1010, 0b0110), 0b1110u);
    EXPECT_EQ(word("shf.l.wrap.b32 %r9, %r2, %r3, %r4", 0x80000000, 1, 33), 3u);
    EXPECT_EQ(word("bfe.u32 %r9, %r2, %r3, %r4", 0xabcd, 4, 8), 0xbcu);
    EXPECT_EQ(word("bfi.b32 %r9, %r2, %r3, 4, 8", 0xff, 0x10001), 0x10ff1u);
    EXPECT_EQ(word("bfind.u32 %r9, %r2", 0x1000), 12u);
    EXPECT_EQ(word("bfind.u32 %r9, %r2", 0), 0xffffffffu);
    EXPECT_EQ(word("clz.b32 %r9, %r2", 0x1000), 19u);
    EXPECT_EQ(word("brev.b32 %r9, %r2", 0x1), 0x80000000u);
    EXPECT_EQ(word("popc.b32 %r9, %r2", 0xf0f0), 8u);
    EXPECT_EQ(word("dp4a.s32.s32 %r9, %r2, %r3, %r4", 0xff020304, 0x01010101, 100), 108u);
    EXPECT_EQ(word("dp2a.lo.s32.s32 %r9, %r2, %r3, %r4", 0xffff0003, 0x0204, 10), 20u);
    EXPECT_EQ(word("slct.b32.s32 %r9, %r2, %r3, %r4", 1, 2, 0xffffffff), 2u);
}

TEST(PtxMachine, NumbersAreRoundedAndConverted) {
    const std::string halves = "mov.b32 %f0, %r2; ";
    EXPECT_EQ(word(halves + "cvt.rni.s32.f32 %r9, %f0", 0x40200000), 2u);           // 2.5
    EXPECT_EQ(word(halves + "cvt.rzi.s32.f32 %r9, %f0", 0xc0200000), 0xfffffffeu);  // -2.5
    EXPECT_EQ(word(halves + "cvt.rzi.u32.f32 %r9, %f0", 0xc0200000), 0u);           // clamped
    EXPECT_EQ(word(halves + "cvt.rn.f16.f32 %r9, %f0", 0x45001000), 0x6800u);       // 2049 → 2048
    EXPECT_EQ(word(halves + "cvt.rn.f16.f32 %r9, %f0", 0x477ff000), 0x7c00u);       // 65520 → ∞
    EXPECT_EQ(word(halves + "cvt.rn.f16x2.f32 %r9, %f0, %f0", 0x3f800000), 0x3c003c00u);
    EXPECT_EQ(word("cvt.sat.u8.s32 %r9, %r2", 300), 255u);
    EXPECT_EQ(word("cvt.sat.u8.s32 %r9, %r2", 0xfffffff0), 0u);
    EXPECT_EQ(word("cvt.s32.s8 %r9, %r2", 0x80), 0xffffff80u);
    EXPECT_EQ(word("add.rn.f16x2 %r9, %r2, %r3", 0x3c004000, 0x3c003c00), 0x40004200u);
    EXPECT_EQ(word("mul.rn.bf16x2 %r9, %r2, %r3", 0x3f804000, 0x40004040), 0x400040c0u);
    EXPECT_EQ(word("fma.rn.f16 %r9, %r2, %r3, %r4", 0x3c00, 0x0001, 0x0001), 0x0002u);  // denormal
    EXPECT_EQ(word(halves + "fma.rn.f32 %f1, %f0, %f0, 0f3F800000; mov.b32 %r9, %f1", 0x40000000),
              0x40a00000u);
}

TEST(PtxMachine, LanesThatPartComeTogetherAgain) {
    const Executed seen = execute(
        "and.b32 %r2, %r1, 1; setp.eq.s32 %p1, %r2, 0; @%p1 bra $EVEN;\n"
        "mov.u32 %r3, 100; bra.uni $END;\n$EVEN:\nmov.u32 %r3, 200;\n$END:\n"
        "shfl.sync.bfly.b32 %r4, %r3, 1, 31, -1; st.global.u32 [%rd1], %r4;");
    EXPECT_EQ(seen.left(0), 100u);
    EXPECT_EQ(seen.left(1), 200u);
    EXPECT_THAT(fault("and.b32 %r2, %r1, 1; setp.eq.s32 %p1, %r2, 0; @%p1 shfl.sync.idx.b32 %r4, "
                      "%r1, 1, 31, -1;"),
                HasSubstr("not all lanes of the warp are here"));
}

TEST(PtxMachine, AWarpSeesItsLanes) {
    const Executed seen = execute(
        "setp.gt.u32 %p1, %r1, 29; vote.sync.ballot.b32 %r2, %p1, -1; redux.sync.add.s32 %r3, %r1, "
        "-1;\n"
        "shr.u32 %r4, %r1, 4; match.any.sync.b32 %r5, %r4, -1; xor.b32 %r2, %r2, %r3; xor.b32 %r2, "
        "%r2, %r5;\n"
        "st.global.u32 [%rd1], %r2;");
    EXPECT_EQ(seen.left(0), 0xc0000000u ^ 496u ^ 0x0000ffffu);
}

TEST(PtxMachine, ABarrierOrdersTheWarpsOfAGroup) {
    const Executed seen = execute(
        "mov.u64 %rd2, shared; cvt.u32.u64 %r2, %rd2; shl.b32 %r3, %r1, 2; add.s32 %r3, %r3, %r2;\n"
        "st.shared.u32 [%r3], %r1; bar.sync 0; xor.b32 %r4, %r1, 32; shl.b32 %r4, %r4, 2;\n"
        "add.s32 %r4, %r4, %r2; ld.shared.u32 %r5, [%r4]; st.global.u32 [%rd1], %r5;",
        64);
    EXPECT_EQ(seen.left(3), 35u);
    EXPECT_EQ(seen.left(60), 28u);
    EXPECT_THAT(fault("setp.eq.s32 %p1, %r1, 0; @%p1 bra $SPIN; bar.sync 0; bra.uni "
                      "$END;\n$SPIN:\nbra.uni $SPIN;\n$END:"),
                HasSubstr("does not end"));
}

TEST(PtxMachine, AtomicsGoOneAfterTheOther) {
    const Executed seen = execute(
        "atom.global.add.u32 %r2, [%rd0], 2; red.global.max.u32 [%rd0+4], %r1; bar.sync 0;\n"
        "setp.ne.s32 %p1, %r1, 0; @%p1 exit; ld.global.v2.u32 {%r3, %r4}, [%rd0];\n"
        "mov.b64 %rd2, {%r3, %r4}; atom.global.cas.b64 %rd3, [%rd0], %rd2, 5;",
        32, 2);
    EXPECT_THAT((std::vector{seen.left(0)}), ::testing::ElementsAre(5u));
}

TEST(PtxMachine, ALoopIsCountedBetweenReadingsOfTheClock) {
    const Executed seen = execute(
        "mov.u32 %r2, %clock; mov.u32 %r3, 0;\n$AGAIN:\nadd.s32 %r3, %r3, 1; setp.lt.s32 %p1, %r3, "
        "%r0;\n"
        "@%p1 bra $AGAIN; mov.u32 %r4, %clock; st.global.u32 [%rd1], %r3;");
    EXPECT_EQ(seen.left(31), 7u);
    ASSERT_EQ(seen.outcome.intervals.size(), 1u);
    EXPECT_EQ(seen.outcome.intervals[0].at("add.s32"), 7);
}

TEST(PtxMachine, WhatAGpuWouldRefuseIsAFault) {
    EXPECT_THAT(fault("st.global.u32 [%rd0+256], %r1;"), HasSubstr("outside of everything"));
    EXPECT_THAT(fault("st.global.u32 [%rd0+2], %r1;"), HasSubstr("not a multiple of 4"));
    EXPECT_THAT(fault("mov.u64 %rd2, shared; ld.shared.u32 %r2, [%rd2+4096];"),
                HasSubstr("outside of everything"));
    EXPECT_THAT(fault("add.s32 %r2, %r3, 1;"), HasSubstr("nothing was written to"));
    EXPECT_THAT(fault("frobnicate.u32 %r2, %r1;"), HasSubstr("frobnicate"));
    EXPECT_THAT(fault("mov.u32 %r2, 8 / 2;"), HasSubstr("number 8 / 2"));
    EXPECT_THAT(fault("bra $NOWHERE;"), HasSubstr("no such label"));
    EXPECT_THAT(fault("", 40), HasSubstr("partial warp"));
}

}  // namespace
}  // namespace occupipe::ptx
