// SPDX-License-Identifier: MIT
// The decoder of machine code: single instructions whose meaning the vendor's disassembler told,
// and files that are broken in every way that a seeded generator thinks of.
#include "isa/cubin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "bench/cuda/driver/compile.h"
#include "bench/cuda/driver/nvrtc.h"
#include "bench/cuda/proof/machine_code.h"
#include "bench/cuda/proof/ptx.h"
#include "bench/cuda/proof/timed_loop.h"
#include "core/error.h"

namespace occupipe::bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr int p0 = predicate_base;
constexpr int ur0 = uniform_base;

Instruction at(int architecture, std::uint64_t low, std::uint64_t high, std::int64_t address = 0) {
    return decode_for_receipt({low, high}, address, architecture);
}

TEST(CudaDecoder, ReadsArithmetic) {
    const Instruction ffma = at(90, 0x000000100f127223, 0x000fc8000000000f);
    EXPECT_EQ(ffma.name, "FFMA");  // FFMA R18, R15, R16, R15
    EXPECT_THAT(ffma.writes, ElementsAre(18));
    EXPECT_THAT(ffma.reads, UnorderedElementsAre(15, 16, 15));
    EXPECT_EQ(ffma.stall_cycles, 4);
    EXPECT_FALSE(ffma.scoreboard);
    EXPECT_FALSE(ffma.guard);

    const Instruction fadd = at(120, 0x0000001918227221, 0x000fe40000000000);
    EXPECT_EQ(fadd.name, "FADD");  // FADD R34, R24, R25
    EXPECT_THAT(fadd.reads, UnorderedElementsAre(24, 25));

    const Instruction dfma = at(90, 0x3ff000000606742b, 0x000fd00000000112);
    EXPECT_EQ(dfma.name, "DFMA");  // DFMA R6, -R6, R18, 1
    EXPECT_THAT(dfma.writes, ElementsAre(6, 7));
    EXPECT_THAT(dfma.reads, UnorderedElementsAre(6, 7, 18, 19));
    EXPECT_EQ(dfma.stall_cycles, 8);

    const Instruction lop = at(80, 0x800000000e077812, 0x000fe200078e4807);
    EXPECT_EQ(lop.name, "LOP3");  // LOP3.LUT R7, R14, 0x80000000, R7, 0x48, !PT
    EXPECT_THAT(lop.reads, UnorderedElementsAre(14, 7));
    EXPECT_THAT(lop.writes, ElementsAre(7));
}

TEST(CudaDecoder, TellsTheKindsOfOneUnitApart) {
    EXPECT_EQ(at(90, 0x0000000500007308, 0x000e260000000000).name, "MUFU.COS");
    EXPECT_EQ(at(90, 0x00000007000d7308, 0x000e220000001800).name, "MUFU.RCP64H");
    EXPECT_TRUE(at(90, 0x0000000500007308, 0x000e260000000000).scoreboard);
    EXPECT_EQ(at(90, 0x0000000403067825, 0x002fca00078e0006).name, "IMAD.WIDE");
    EXPECT_EQ(at(75, 0x0000000503037227, 0x000fc800078e0002).name, "IMAD.HI");
    EXPECT_EQ(at(86, 0x00000000ff107424, 0x000fc400078e00ff).name, "IMAD.MOV");
    // One code with two meanings: HFMA2.MMA R4, -RZ, RZ, 0, 0 and IADD.64 R26, R26, UR4.
    EXPECT_EQ(at(90, 0x00000000ff047435, 0x000fd600000001ff).name, "HFMA2.MMA");
    EXPECT_EQ(at(120, 0x000000041a1a7c35, 0x001fcc000f8e0200).name, "IADD.64");
}

TEST(CudaDecoder, ReadsMemoryOperations) {
    const Instruction ldg = at(75, 0x00270000060d7381, 0x000ee800001ee900);
    EXPECT_EQ(ldg.name, "LDG");  // LDG.E.SYS R13, [R6+0x2700]
    EXPECT_THAT(ldg.writes, ElementsAre(13));
    EXPECT_THAT(ldg.reads, ElementsAre(6, 7));
    const Instruction wide = at(90, 0x0000080a06087981, 0x000ea4000c1f5b00);
    EXPECT_THAT(wide.writes, ElementsAre(8, 9));  // LDG.E.64.STRONG.SYS R8, …
    const Instruction stg = at(90, 0x0000380c10007986, 0x0005e8000c101b0a);
    EXPECT_EQ(stg.name, "STG");  // STG.E.64 desc[UR10][R16.64+0x38], R12
    EXPECT_THAT(stg.writes, IsEmpty());
    EXPECT_THAT(stg.reads, UnorderedElementsAre(16, 17, 12, 13, ur0 + 10, ur0 + 11));
}

TEST(CudaDecoder, ReadsPredicatesAndUniformRegisters) {
    const Instruction isetp = at(90, 0x000000ff0700720c, 0x000fda0003f06100);
    EXPECT_EQ(isetp.name, "ISETP");  // ISETP.GE.U32.AND.EX P0, PT, R7, RZ, PT, P0
    EXPECT_THAT(isetp.writes, ElementsAre(p0));
    EXPECT_THAT(isetp.reads, UnorderedElementsAre(7, p0));
    const Instruction exit = at(90, 0x000000000000894d, 0x000fea0003800000);
    EXPECT_EQ(exit.name, "EXIT");  // @!P0 EXIT
    EXPECT_EQ(exit.guard, p0);
    const Instruction uiadd3 = at(90, 0x0000000104047890, 0x000fe4000fffe03f);
    EXPECT_EQ(uiadd3.name, "UIADD3");  // UIADD3 UR4, UR4, 0x1, URZ
    EXPECT_THAT(uiadd3.writes, ElementsAre(ur0 + 4));
    EXPECT_THAT(uiadd3.reads, ElementsAre(ur0 + 4));
}

TEST(CudaDecoder, FollowsBranches) {
    // @!P1 BRA forwards; BRA.U backwards; Hopper moved the lowest bits of the distance.
    EXPECT_EQ(at(75, 0x000000a000009947, 0x000ff00003800000, 0x100).branch_target, 0x1b0);
    EXPECT_EQ(at(90, 0x00000000000c9947, 0x001fea0003800000, 0x100).branch_target, 0x140);
    EXPECT_EQ(at(90, 0xfffffffc00e48947, 0x000fea000383ffff, 0x1a0).branch_target, 0x140);
}

TEST(CudaDecoder, KnowsTheCoreClockFromTheGlobalTimer) {
    EXPECT_TRUE(at(90, 0x0000000000027805, 0x000fe40000015000).core_clock);
    EXPECT_FALSE(at(90, 0x00000000000a7805, 0x002fce0000015200).core_clock);
}

TEST(CudaDecoder, NamesAnUnknownCodeByItsNumber) {
    const Instruction unknown = at(90, 0x00000000000071fe, 0);
    EXPECT_EQ(unknown.name, "op:0x1fe");
    EXPECT_THAT(unknown.reads, IsEmpty());
}

TEST(CudaPtx, CountsInlineAssemblyInTheLoopOnly) {
    const PtxCount count = count_ptx(
        "\tmov.u64 %rd1, %clock64;\n"
        "\t// begin inline asm\n\tadd.s32 %r1, %r1, 1;\n\t// end inline asm\n"
        "$L__BB0_3:\n"
        "\t// begin inline asm\n\t{ .reg .b32 t; @go add.s32 t, a, b; add.s32 a, t, b; }\n"
        "\t// end inline asm\n"
        "\tadd.s32 %r2, %r2, 1;\n"
        "\t@%p1 bra $L__BB0_3;\n"
        "\tmov.u64 %rd2, %clock64;\n");
    EXPECT_EQ(count.in_loop.at("add.s32"), 2);
    EXPECT_EQ(count.outside.at("add.s32"), 1);
}

TEST(CudaPtx, RefusesTextWithoutOneTimedLoop) {
    EXPECT_THROW(count_ptx(""), InputError);
    EXPECT_THROW(count_ptx("mov.u64 %rd1, %clock64;\nmov.u64 %rd2, %clock64;\n"), InputError);
    EXPECT_THROW(count_ptx("{"), InputError);
}

TEST(CudaCubin, RefusesWhatIsNoCubin) {
    EXPECT_THROW(isa::read_kernel("", "k"), InputError);
    EXPECT_THROW(isa::read_kernel("\177ELF", "k"), InputError);
    EXPECT_THROW(isa::read_kernel(std::string(4096, '\0'), "k"), InputError);
    EXPECT_THROW(isa::read_kernel(std::string(4096, '\377'), "k"), InputError);
}

class BrokenCubin : public testing::Test {
protected:
    void SetUp() override {
        try {
            const Row& row = *find_row("div.f32");
            cubin =
                compile_cuda(
                    kernel_source(
                        {.first = &row, .second = nullptr, .beta = 0, .chains = 1, .unroll = 4}),
                    "sm_90")
                    .cubin;
        } catch (const DeviceError&) {
            GTEST_SKIP() << "NVRTC is not installed: no CUDA kernel can be compiled";
        }
    }

    // True when the file was usable; InputError is the only exception allowed.
    static bool survives(const std::string& bytes) {
        try {
            const auto code = decode_for_receipt(isa::read_kernel(bytes, kernel_entry).code, 90);
            const TimedLoop loop = find_timed_loop(code);
            count_loop(code, loop);
            follow_dependences(code, loop, {"MUFU.RCP"});
            return true;
        } catch (const InputError&) {
            return false;
        }
    }

    std::string cubin;
};

TEST_F(BrokenCubin, AnotherKernelsNameIsRefused) {
    EXPECT_TRUE(survives(cubin));
    EXPECT_THROW(isa::read_kernel(cubin, "another"), InputError);
}

TEST_F(BrokenCubin, EveryTruncationIsRefused) {
    // The section table stands at the end: nothing shorter is complete.
    int refused = 0;
    int tried = 0;
    for (std::size_t size = 0; size < cubin.size(); size += 37, ++tried) {
        refused += !survives(cubin.substr(0, size));
    }
    EXPECT_GT(tried, 100);
    EXPECT_GE(refused, tried * 9 / 10);
}

TEST_F(BrokenCubin, FlippedBitsNeverCrash) {
    std::mt19937 random(7);
    int usable = 0;
    for (int i = 0; i < 3000; ++i) {
        std::string bytes = cubin;
        for (int flips = 0; flips < 8; ++flips) {
            bytes[random() % bytes.size()] ^= static_cast<char>(1u << (random() % 8));
        }
        usable += survives(bytes);
    }
    EXPECT_GT(usable, 0);
    EXPECT_LT(usable, 3000);
}

TEST_F(BrokenCubin, BrokenHeadersNeverCrash) {
    std::mt19937 random(11);
    for (int i = 0; i < 3000; ++i) {
        std::string bytes = cubin;
        bytes[random() % 64] = static_cast<char>(random());
        const std::size_t table = bytes.size() - std::min<std::size_t>(bytes.size(), 1024);
        bytes[table + random() % (bytes.size() - table)] = static_cast<char>(random());
        survives(bytes);
    }
    SUCCEED();
}

}  // namespace
}  // namespace occupipe::bench
