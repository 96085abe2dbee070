// SPDX-License-Identifier: MIT
// The decoder beside NVIDIA's disassembler, whose text for our kernels is recorded
// (tools/record_machine_code.py): every instruction, all of it.
#include "isa/decode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "core/error.h"
#include "isa/encoding.h"

namespace occupipe::isa {
namespace {

using testing::HasSubstr;

Instruction at(int architecture, std::uint64_t low, std::uint64_t high, std::int64_t address = 0) {
    return decode({low, high}, address, architecture);
}

struct Recorded {
    std::int64_t address = 0;
    Word word;
    std::string text;
};

std::vector<Recorded> recorded(int architecture) {
    const std::string path = std::string(OCCUPIPE_SOURCE_DIR) + "/tests/isa/recorded/sm_" +
                             std::to_string(architecture) + ".txt";
    std::ifstream file(path);
    std::vector<Recorded> found;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("#")) continue;
        std::istringstream words(line);
        Recorded one;
        words >> std::hex >> one.address >> one.word.low >> one.word.high;
        std::getline(words >> std::ws, one.text);
        found.push_back(one);
    }
    return found;
}

class Disassembly : public testing::TestWithParam<int> {};

TEST_P(Disassembly, IsWhatNvdisasmWrites) {
    const auto all = recorded(GetParam());
    EXPECT_GT(all.size(), 1000u);
    for (const Recorded& one : all) {
        const Instruction ours = decode(one.word, one.address, GetParam());
        EXPECT_EQ(to_text(ours, GetParam()), one.text) << ours.unknown;
        EXPECT_NO_THROW(require_known(ours, GetParam()));
    }
}

// A bit that no field accounts for is not passed over: the word means something else then.
TEST_P(Disassembly, EveryBitIsAccountedFor) {
    int changed = 0;
    int kept = 0;
    for (const Recorded& one : recorded(GetParam())) {
        for (int bit = 0; bit < 105; ++bit) {
            Word word = one.word;
            (bit < 64 ? word.low : word.high) ^= std::uint64_t{1} << bit % 64;
            const Instruction other = decode(word, one.address, GetParam());
            const bool same = to_text(other, GetParam()) == one.text;
            ++(same ? kept : changed);
        }
    }
    // What may change unseen: the marks of registers and predicates that an instruction has not
    // (RZ or 0, PT or !PT), and which NaN a constant is.
    EXPECT_LT(kept, changed / 150) << kept << " of " << changed;
}

INSTANTIATE_TEST_SUITE_P(Isa, Disassembly, testing::Values(75, 80, 86, 89, 90, 100, 120));

// Forms that the recorded kernels have not: one PTX instruction after the other, of all that the
// PTX manual lists, compiled for five architectures. recorded/single.txt holds those that this
// decoder did not know then. Each is known by its name at least, and where it is said to be
// understood it is what nvdisasm writes.
TEST(SinglePtxInstructions, AreNamedAndMostAreUnderstood) {
    std::ifstream file(std::string(OCCUPIPE_SOURCE_DIR) + "/tests/isa/recorded/single.txt");
    std::map<std::string, int> named_alone;
    int all = 0, understood = 0;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("#")) continue;
        std::istringstream words(line);
        int architecture = 0;
        Recorded one;
        words >> architecture >> std::hex >> one.word.low >> one.word.high;
        std::getline(words >> std::ws, one.text);
        std::string name = one.text;
        if (name.starts_with("@")) name = name.substr(name.find(' ') + 1);
        name = name.substr(0, name.find_first_of(". "));
        ++all;
        const Instruction ours = decode(one.word, 0, architecture);
        // Both names are of the cluster's barrier.
        const bool same =
            ours.opcode == name || (name.starts_with("UCGABAR") && ours.opcode == "UCGABAR");
        EXPECT_TRUE(same) << architecture << ' ' << one.text << ": '" << ours.opcode << "'";
        if (!ours.unknown.empty()) {
            ++named_alone[name];
            continue;
        }
        ++understood;
        EXPECT_EQ(to_text(ours, architecture), one.text) << architecture;
    }
    EXPECT_GT(all, 400);
    EXPECT_GT(understood, 200);
    for (const char* name : {"FSET", "I2IP", "NANOSLEEP", "FRND", "I2F", "F2I", "F2F"}) {
        EXPECT_EQ(named_alone.count(name), 0u) << name;
    }
}

TEST(Decoder, TakesOperandsApart) {
    const Instruction mad = at(90, 0x0000000403067825, 0x002fca00078e0006);
    EXPECT_EQ(mad.opcode, "IMAD");  // IMAD.WIDE.U32 R6, R3, 0x4, R6
    EXPECT_TRUE(mad.has("WIDE"));
    ASSERT_EQ(mad.operands.size(), 4u);
    EXPECT_TRUE(mad.operands[0].written);
    EXPECT_EQ(mad.operands[0].number, 6);
    EXPECT_EQ(mad.operands[0].count, 2);
    EXPECT_EQ(mad.operands[1].count, 1);
    EXPECT_EQ(mad.operands[2].kind, Operand::Kind::immediate);
    EXPECT_EQ(mad.operands[2].value, 4);
    EXPECT_EQ(mad.operands[3].count, 2);
    EXPECT_FALSE(mad.guard);
}

TEST(Decoder, ReadsAddresses) {
    const Instruction load = at(90, 0x0000080a06087981, 0x000ea4000c1f5b00);
    EXPECT_EQ(to_text(load, 90), "LDG.E.64.STRONG.SYS R8, desc[UR10][R6.64+0x8]");
    EXPECT_EQ(load.operands[0].count, 2);
    EXPECT_EQ(load.operands[1].kind, Operand::Kind::address);
    EXPECT_EQ(load.operands[1].number, 6);
    EXPECT_EQ(load.operands[1].count, 2);
    EXPECT_EQ(load.operands[1].value, 8);
    EXPECT_EQ(load.operands[1].descriptor, 10);
}

// What nvdisasm 13.2 writes for these words.
// Of generic accesses without a uniform register the offset has 32 bits, further down. Texts are
// nvdisasm's.
TEST(Decoder, ReadsGenericAddresses) {
    const auto text = [](Word word, int architecture) {
        const Instruction one = decode(word, 0, architecture);
        EXPECT_EQ(one.unknown, "");
        return to_text(one, architecture);
    };
    for (const int architecture : {80, 90}) {
        EXPECT_EQ(text({0x0000010004087980, 0x000ea40000100b00}, architecture),
                  "LD.E.64 R8, [R4+0x100]");
        EXPECT_EQ(text({0x0000012002007385, 0x000fe20000100904}, architecture),
                  "ST.E [R2+0x120], R4");
    }
    EXPECT_EQ(text({0x0000010002007985, 0x000fe2000c101904}, 90), "ST.E desc[UR4][R2.64+0x1], R0");
    EXPECT_EQ(text({0x00000004ff087980, 0x001ea4000c110900}, 75), "LD.E.STRONG.CTA R8, [UR4]");
    EXPECT_EQ(text({0x00008008ff007985, 0x0007e4000c10eb04}, 75), "ST.E.64.SYS [UR4+0x80], R8");
    EXPECT_EQ(text({0x00008004ffff79aa, 0x000ee4000c000500}, 75), "QSPC.E.S P0, RZ, [UR4+0x80]");
    EXPECT_EQ(text({0x0000000014007950, 0x003fde0003e00000}, 75), "RET.ABS.NODEC R20 0x0");
}

TEST(Decoder, ReadsTwoBinary32AtOnce) {
    const auto text = [](std::uint64_t low, std::uint64_t high) {
        return to_text(at(100, low, high), 100);
    };
    EXPECT_EQ(text(0x00000004020c7249, 0x004fc80000000006),
              "FFMA2 R12, R2.F32x2.HI_LO, R4.F32x2.HI_LO, R6.F32x2.HI_LO");
    EXPECT_EQ(text(0x000000040c0c7249, 0x000fc8000001c006),
              "FFMA2.FTZ.RZ R12, R12.F32x2.HI_LO, R4.F32x2.HI_LO, R6.F32x2.HI_LO");
    EXPECT_EQ(text(0x4000000004067849, 0x008fc8000120000d), "FFMA2 R6, R4.F32x2.HI_LO, 2, R13.F32");
    EXPECT_EQ(text(0x0000000808087e49, 0x004fc8000900000d),
              "FFMA2 R8, R8.F32x2.HI_LO, R13.F32, UR8.F32x2.HI_LO");
    EXPECT_EQ(text(0x0000000a08087249, 0x010fc8000010000a),
              "FFMA2 R8, R8.F32x2.HI_LO, R10.F32x2.HI_LO, R10.F32x2.LO_HI");
    EXPECT_EQ(text(0x4000000008087449, 0x000fc80000200004),
              "FFMA2 R8, R8.F32x2.HI_LO, R4.F32x2.HI_LO, 2");
    EXPECT_EQ(text(0x000000040c0c724a, 0x000fc80000004000),
              "FMUL2.RM R12, R12.F32x2.HI_LO, R4.F32x2.HI_LO");
    EXPECT_EQ(text(0x400000000608784a, 0x000fe40001000000), "FMUL2 R8, R6.F32x2.HI_LO, 2");
    EXPECT_EQ(text(0x0000000608087c4a, 0x000fc80008000000),
              "FMUL2 R8, R8.F32x2.HI_LO, UR6.F32x2.HI_LO");
    EXPECT_EQ(text(0x000000060c0c724b, 0x000fe40000018000),
              "FADD2.FTZ.RP R12, R12.F32x2.HI_LO, R6.F32x2.HI_LO");
    EXPECT_EQ(text(0x0000000a0802724b, 0x000fe40000200000), "FADD2 R2, R8.F32x2.HI_LO, R10.F32");
    const Instruction sum = at(100, 0x0000000a0802724b, 0x000fe40000200000);
    EXPECT_EQ(sum.operands[1].count, 2);
    EXPECT_EQ(sum.operands[2].count, 1);
    // A selector without a known meaning, and an immediate that would be for one of the two.
    EXPECT_FALSE(at(100, 0x000000040c0c724b, 0x000fc80000080000).unknown.empty());
    EXPECT_FALSE(at(100, 0x400000000608784a, 0x000fe40000000000).unknown.empty());
}

TEST(Decoder, ReadsMinimaOfThreeAndOfNaNs) {
    EXPECT_EQ(to_text(at(100, 0x0000000700007276, 0x000fc80007810806), 100),
              "FMNMX3.FTZ R0, R0, R7, -R6, !PT");
    EXPECT_EQ(to_text(at(100, 0x4000000700007276, 0x000fc80007820006), 100),
              "FMNMX3.NAN R0, R0, |R7|, R6, !PT");
    EXPECT_EQ(to_text(at(80, 0x0000000007077209, 0x000fc80007830000), 80),
              "FMNMX.FTZ.NAN R7, R7, R0, !PT");
    EXPECT_EQ(to_text(at(90, 0x4000000706077209, 0x000fc80003840200), 90),
              "FMNMX.XORSIGN R7, |R6|, |R7|, PT");
    EXPECT_FALSE(at(75, 0x0000000007077209, 0x000fc80007820000).unknown.empty());
}

TEST(Decoder, ReadsPartsOfRegistersThatAreConverted) {
    EXPECT_EQ(to_text(at(90, 0x1000000200287306, 0x000e220000101400), 90), "I2F.S16 R40, R2.H1");
    EXPECT_EQ(to_text(at(90, 0x2000000200027306, 0x000fe20000001400), 90), "I2F.S8 R2, R2.B2");
    EXPECT_FALSE(at(90, 0x2000000200287306, 0x000e220000101400).unknown.empty());
}

TEST(Decoder, ReadsUniformRegistersAndConstantsOfPackings) {
    EXPECT_EQ(to_text(at(75, 0x10800000ff0b7630, 0x000fe20000000900), 75),
              "HADD2 R11, -RZ.H0_H0, c[0x2] [0x0].F32");
    EXPECT_EQ(to_text(at(80, 0x00006000ff057a3e, 0x000fe200000000ff), 80),
              "F2FP.PACK_AB R5, RZ, c[0x0][0x180]");
    EXPECT_EQ(to_text(at(90, 0x00000006ff057c3e, 0x000fe400080000ff), 90),
              "F2FP.F16.F32.PACK_AB R5, RZ, UR6");
    EXPECT_EQ(to_text(at(120, 0x3f80000005047455, 0x000fc80008000804), 120),
              "UFFMA UR4, UR5, -UR4, 1");
}

TEST(Decoder, ReadsComparisonsOfHalvesWithConstants) {
    for (const int architecture : {75, 80, 86, 89, 90, 100, 120}) {
        const auto text = [&](std::uint64_t low, std::uint64_t high) {
            return to_text(at(architecture, low, high), architecture);
        };
        EXPECT_EQ(text(0xbd00410000097433, 0x004fd00003804080),
                  "HSET2.BF.GT.AND R9, R0, -1.25, 2.5, PT");
        EXPECT_EQ(text(0xc0003c00000f7433, 0x004fd0000380b200),
                  "HSET2.LEU.AND R15, |R0|, -2, 1, PT");
        EXPECT_EQ(text(0x3c663c6602000434, 0x000fd00003f2c900),
                  "@P0 HSETP2.GTU.AND P1, PT, -R2.H0_H0, 1.099609375, 1.099609375, PT");
        EXPECT_EQ(text(0x008f008f08007434, 0x041fe40003f6ea00),
                  "HSETP2.GEU.AND P3, PT, |R8|.reuse.H0_H0, 8.523464202880859375e-06, "
                  "8.523464202880859375e-06, PT");
        EXPECT_EQ(text(0x3000000502007e34, 0x004fd0000bf04800),
                  "HSETP2.GT.AND P0, PT, R2.H0_H0, UR5.H1_H1, PT");
        // Of forms 4, 5 and 6 there are none.
        EXPECT_FALSE(at(architecture, 0x4100410002007834, 0x004fd00003f04800).unknown.empty());
    }
    EXPECT_EQ(to_text(at(90, 0x4020402002007434, 0x004fd00003f0e802), 90),
              "HSETP2.BF16_V2.GEU.AND P0, PT, R2.H0_H0, 2.5, 2.5, PT");
}

TEST(Decoder, ReadsAddressesInTheCode) {
    EXPECT_EQ(to_text(at(75, 0x000000000006734e, 0x000fe20000000000), 75), "LEPC R6");
    EXPECT_EQ(to_text(at(90, 0x000000001014794e, 0x000fce0000000000, 0x20), 90), "LEPC R20, 0x40");
    EXPECT_EQ(to_text(at(90, 0x000001231014794e, 0x000fce0000000000, 0x20), 90),
              "LEPC R20, 0x12340");
    EXPECT_EQ(to_text(at(120, 0xffffffe01014794e, 0x000fce0000ffffff, 0x20), 120),
              "LEPC R20, -0x1fc0");
}

TEST(Decoder, ReadsShiftsAndBranchesOfUniformRegisters) {
    for (const int architecture : {75, 80, 86, 89, 90, 100, 120})
        EXPECT_EQ(to_text(at(architecture, 0xffffffff201e0499, 0x000fe4000800121f), architecture),
                  "@UP0 USHF.R.U64 UR30, UR32, UR31, 0xffffffff");
    for (const int architecture : {75, 80, 86, 89})
        EXPECT_EQ(to_text(at(architecture, 0xffffea4006007958, 0x000fea000b83ffff), architecture),
                  "BRXU UR6 -0x15c0");
    // Of cooperative groups, on 90, where branches have their distance in other bits.
    const Instruction branch = at(90, 0x0000000304287947, 0x000fea000b800000, 0x5d0);
    EXPECT_EQ(to_text(branch, 90), "BRA.CONV UR4, 0x680");
}

TEST(Decoder, ReadsTheControlField) {
    const Instruction load = at(75, 0x00270000060d7381, 0x000ee800001ee900);
    EXPECT_EQ(load.control.stall, 4);
    EXPECT_EQ(load.control.result_scoreboard, 3);
    EXPECT_FALSE(load.control.operand_scoreboard);
    EXPECT_EQ(load.control.awaited_scoreboards, 0u);
    EXPECT_EQ(to_text(load.control), "stall 4 result SB3");
    const Control other = at(90, 0x0000000403067825, 0x002fca00078e0006).control;
    EXPECT_EQ(to_text(other), "stall 5 yield wait SB1");
}

TEST(Decoder, NamesGuardsAndTargets) {
    const Instruction branch = at(90, 0x00000000000c9947, 0x001fea0003800000, 0x100);
    EXPECT_EQ(to_text(branch, 90), "@!P1 BRA 0x140");
    ASSERT_TRUE(branch.guard);
    EXPECT_EQ(branch.guard->number, 1);
    EXPECT_TRUE(branch.guard->inverted);
    EXPECT_EQ(branch.operands[0].value, 0x140);
}

TEST(Decoder, AnUnknownInstructionIsAnErrorWithAddressNameAndBits) {
    const Instruction opcode = at(90, 0x00000000000071fe, 0, 0x230);
    EXPECT_EQ(opcode.opcode, "");
    try {
        require_known(opcode, 90);
        FAIL();
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), HasSubstr("address 0x0230"));
        EXPECT_THAT(error.what(), HasSubstr("no such opcode: 0x1fe"));
        EXPECT_THAT(error.what(), HasSubstr("0x00000000000071fe 0x0000000000000000"));
    }
    // ISETP.GE.AND P0, PT, R5, UR9, PT with a comparison combined in a way that there is not.
    const Instruction combined = at(90, 0x0000000905007c0c, 0x000fda000bf06270 | 0xc00);
    EXPECT_EQ(combined.opcode, "ISETP");
    EXPECT_THAT(combined.unknown, HasSubstr("value 3 of the modifier at bit 74"));
    EXPECT_THROW(require_known(combined, 90), InputError);
    // What the instruction is known to be is still there for who asks no more.
    EXPECT_EQ(to_text(combined, 90), "ISETP.GE ?");
}

TEST(EncodingTable, EveryRowIsWellFormedAndReachable) {
    std::size_t all = 0;
    for (int code = 0; code < 512; ++code) all += encodings(code).size();
    EXPECT_EQ(all, rows().size());
    for (const Row& row : rows()) {
        EXPECT_LE(row.first, row.last) << row.name;
        for (const char form : row.forms) EXPECT_TRUE(form >= '1' && form <= '7') << row.name;
    }
}

}  // namespace
}  // namespace occupipe::isa
