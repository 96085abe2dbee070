// SPDX-License-Identifier: MIT
// Every recorded instruction, alone in a warp, with random and special operands and partial masks,
// beside a formula of its opcode that was written apart from the executor (formulas_*.cpp); and
// faults planted in the executor (faults.cpp), each of which has to show.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "isa/decode.h"
#include "tests/isa/machine/addresses.h"
#include "tests/isa/machine/faults.h"
#include "tests/isa/machine/formulas.h"
#include "tests/isa/machine/operands.h"

namespace occupipe::isa::test {
namespace {

bool touches_memory(const Instruction& one) {
    for (const Operand& operand : one.operands) {
        if (operand.kind == Operand::Kind::address) return true;
    }
    return one.opcode == "LDC" || one.opcode == "ULDC" || one.opcode == "LDCU";
}

void fill(std::vector<std::byte>& bytes, std::size_t count, std::mt19937_64& random) {
    bytes.resize(count);
    for (std::size_t done = 0; done < count;) {
        const std::string part =
            interesting_bytes(std::min<std::size_t>(count - done, 4096), random);
        std::memcpy(bytes.data() + done, part.data(), part.size());
        done += part.size();
    }
}

// Of a matrix: numbers of one magnitude, as programs have them. Sums of such products are exact in
// binary64, which the executor makes use of.
std::uint32_t tame_word(const Instruction& one, bool is_sum, std::mt19937_64& random) {
    const auto pattern = static_cast<std::uint32_t>(random());
    if ((is_sum && one.has("F32")) || one.has("TF32")) return (pattern & 0x81ffff00) | 0x3e000000;
    if (one.has("BF16")) return (pattern & 0x81ff81ff) | 0x3e003e00;
    return (pattern & 0x8fff8fff) | 0x30003000;
}

// A state for one instruction: interesting words in the registers that it names, others in all.
void fill(State& state, const Instruction& one, const SingleStep& machine,
          std::mt19937_64& random) {
    const auto flavours = static_cast<std::uint64_t>(Flavour::count);
    const auto main = static_cast<Flavour>(random() % flavours);
    const auto next = [&] {
        return random() % 4 == 0 ? interesting(random) : word_of(main, random);
    };
    auto cheap = static_cast<std::uint32_t>(random());
    for (std::size_t r = 0; r < 255; ++r) {
        for (auto& word : state.general[r]) word = cheap += 0x9e3779b9;
        state.uniform[r] = cheap ^ 0x5555;
    }
    const bool tame = one.opcode == "HMMA" && random() % 2 == 0;
    for (const Operand& operand : one.operands) {
        if (!operand.number || operand.kind == Operand::Kind::predicate) continue;
        const int count = std::max(operand.count, 2);
        const bool is_sum = &operand == &one.operands.back() || operand.written;
        for (int i = 0; i < count; ++i) {
            const auto r = static_cast<std::size_t>(*operand.number + i);
            if (r >= 255) break;
            if (operand.file == File::uniform) {
                state.uniform[r] = next();
                continue;
            }
            for (auto& word : state.general[r]) {
                word = tame ? tame_word(one, is_sum, random) : next();
            }
            // Now and then all lanes alike, or two registers.
            if (random() % 8 == 0) state.general[r].fill(state.general[r][0]);
            if (r > 0 && random() % 8 == 0) state.general[r] = state.general[r - 1];
        }
    }
    state.general[255].fill(0);
    state.uniform[255] = 0;
    for (std::size_t p = 0; p < 7; ++p) {
        state.predicate[p] = static_cast<std::uint32_t>(random());
        state.uniform_predicate[p] = random() % 2 == 0 ? 0xffffffff : 0;
    }
    state.predicate[7] = state.uniform_predicate[7] = 0xffffffff;
    const Space space = space_of(one);
    const bool memory = touches_memory(one);
    const auto when = [&](Space wanted, std::size_t size) {
        return memory && space == wanted ? size : 0;
    };
    fill(state.global, when(Space::global, SingleStep::buffer_bytes), random);
    fill(state.shared, when(Space::shared, SingleStep::shared_bytes), random);
    fill(state.local, when(Space::local, std::size_t{32} * machine.local_bytes()), random);
}

enum class Outcome { agrees, differs, no_formula, refused, stopped };

struct Verdict {
    Outcome outcome = Outcome::agrees;
    std::string text;
};

std::string difference(const State& before, const State& expected, const State& found) {
    std::string text;
    const auto add = [&](const std::string& what, std::uint64_t wanted, std::uint64_t got) {
        if (text.size() > 600) return;
        char line[120];
        std::snprintf(line, sizeof line, "%s: expected %llx, found %llx; ", what.c_str(),
                      static_cast<unsigned long long>(wanted),
                      static_cast<unsigned long long>(got));
        text += line;
    };
    for (std::size_t r = 0; r < 255; ++r) {
        for (std::size_t lane = 0; lane < 32; ++lane) {
            if (expected.general[r][lane] != found.general[r][lane]) {
                add("R" + std::to_string(r) + " lane " + std::to_string(lane),
                    expected.general[r][lane], found.general[r][lane]);
            }
        }
        if (expected.uniform[r] != found.uniform[r]) {
            add("UR" + std::to_string(r), expected.uniform[r], found.uniform[r]);
        }
    }
    for (std::size_t p = 0; p < 7; ++p) {
        if (expected.predicate[p] != found.predicate[p]) {
            add("P" + std::to_string(p) + " (was " + std::to_string(before.predicate[p]) + ")",
                expected.predicate[p], found.predicate[p]);
        }
        if (expected.uniform_predicate[p] != found.uniform_predicate[p]) {
            add("UP" + std::to_string(p), expected.uniform_predicate[p],
                found.uniform_predicate[p]);
        }
    }
    const auto bytes = [&](const char* what, const auto& wanted, const auto& got) {
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            if (wanted[i] != got[i]) {
                add(std::string(what) + " byte " + std::to_string(i),
                    std::to_integer<std::uint64_t>(wanted[i]),
                    std::to_integer<std::uint64_t>(got[i]));
            }
        }
    };
    bytes("global", expected.global, found.global);
    bytes("shared", expected.shared, found.shared);
    bytes("local", expected.local, found.local);
    return text;
}

bool of_the_whole_warp(const Instruction& one) {
    return one.opcode.ends_with("MMA") || one.opcode == "LDSM" || one.opcode == "STSM" ||
           one.opcode == "MOVM";
}

// Runs an instruction `trials` times, with a fault or without.
Verdict check(const Recorded& from, int trials, std::uint64_t seed, const Fault* fault = nullptr) {
    const Instruction one = decode(from.word, from.address, from.architecture);
    const Formula formula = formula_of(one);
    if (!formula) return {Outcome::no_formula, from.text};
    std::mt19937_64 random(seed);
    const bool altered = fault && fault->altered;
    const Word executed = altered ? fault->altered(from.word, one) : from.word;
    std::unique_ptr<SingleStep> machine;
    State before;
    for (int trial = 0; trial < trials; ++trial) {
        if (trial % 16 == 0) {  // other constants
            machine = std::make_unique<SingleStep>(from.architecture, executed, from.word,
                                                   from.address, random);
        }
        if (!machine->refused().empty()) return {Outcome::refused, machine->refused()};
        fill(before, one, *machine, random);
        if (touches_memory(one) &&
            !set_addresses(one, from.architecture, *machine, before, random)) {
            return {Outcome::no_formula, from.text};
        }
        Mask active = random() % 2 == 0 ? 0xffffffff : static_cast<Mask>(random() & random());
        if (active == 0) active = 1;
        if (of_the_whole_warp(one)) active = 0xffffffff;
        State expected = before;
        Case of(one, from.architecture, *machine, active, before, expected);
        if (!formula(of)) return {Outcome::no_formula, from.text};
        State found;
        try {
            found = machine->run(before, active, fault ? fault->wrap : nullptr);
        } catch (const ExecutionError& error) {  // said clearly, and never for a recorded word
            return {Outcome::stopped, from.text + ": " + error.what()};
        }
        // What the formula leaves open is taken as it was found.
        for (std::size_t r = 0; r < 256; ++r) {
            for (std::size_t lane = 0; lane < 32; ++lane) {
                if (of.open_registers.contains(&expected.general[r][lane])) {
                    expected.general[r][lane] = found.general[r][lane];
                }
            }
        }
        for (const auto& [mask, lanes] : of.open) {
            for (std::size_t p = 0; p < 8; ++p) {
                const bool uniform = mask == &expected.uniform_predicate[p];
                if (mask != &expected.predicate[p] && !uniform) continue;
                const Mask there = uniform ? found.uniform_predicate[p] : found.predicate[p];
                *mask = (*mask & ~lanes) | (there & lanes);
            }
        }
        for (const std::size_t at : of.open_global) expected.global.at(at) = found.global.at(at);
        if (expected == found) continue;
        return {Outcome::differs, "sm_" + std::to_string(from.architecture) + " " + from.text +
                                      ": " + difference(before, expected, found)};
    }
    return {};
}

// Opcode and modifiers, as they are written.
std::string form_of(const Recorded& one) {
    std::string text = one.text;
    if (text.starts_with("@")) text = text.substr(text.find(' ') + 1);
    return text.substr(0, text.find(' '));
}

const std::vector<Recorded>& all() {
    static const std::vector<Recorded> instructions = recorded();
    return instructions;
}

TEST(Semantics, EveryRecordedInstructionDoesWhatItsFormulaSays) {
    std::map<std::string, std::string> without, refused;
    std::size_t checked = 0, differing = 0;
    std::uint64_t seed = 1;
    for (const Recorded& one : all()) {
        const Verdict verdict = check(one, 8, ++seed);
        switch (verdict.outcome) {
            case Outcome::agrees:
                ++checked;
                break;
            case Outcome::differs:
                ++differing;
                if (differing <= 40) ADD_FAILURE() << verdict.text;
                break;
            case Outcome::stopped:
                ADD_FAILURE() << verdict.text;
                break;
            case Outcome::no_formula:
                without.emplace(form_of(one), verdict.text);
                break;
            case Outcome::refused:
                refused.emplace(form_of(one), verdict.text);
                break;
        }
    }
    for (const auto& [form, text] : without)
        std::printf("no formula: %s (%s)\n", form.c_str(), text.c_str());
    for (const auto& [form, text] : refused) std::printf("refused: %s\n", text.c_str());
    std::printf("%zu instructions checked, %zu forms without a formula, %zu refused\n", checked,
                without.size(), refused.size());
    EXPECT_EQ(differing, 0u);
    EXPECT_GE(checked, 7643u);
    // Control flow, barriers, caches and clocks, which the kernels' tests execute; what has an
    // address in a uniform register alone; CAST.SPIN and POPC.INC of ATOMS. No more than these.
    EXPECT_LE(without.size(), 58u);
    EXPECT_LE(refused.size(), 0u);
}

// Modifiers that our compiler's output does not show: one bit of a recorded word turned over. What
// is understood and executed has to be right, too.
TEST(Semantics, NeighboursOfRecordedInstructionsDoWhatTheirFormulasSay) {
    std::mt19937_64 random(31);
    std::size_t checked = 0, differing = 0;
    std::map<std::string, int> forms;
    for (const Recorded& one : all()) {
        for (int i = 0; i < 3; ++i) {
            const int bit = random() % 4 == 0 ? 32 + static_cast<int>(random() % 32)
                                              : 72 + static_cast<int>(random() % 19);
            Recorded other = one;
            (bit < 64 ? other.word.low : other.word.high) ^= std::uint64_t{1} << bit % 64;
            const Instruction decoded = decode(other.word, other.address, other.architecture);
            if (!decoded.unknown.empty()) continue;
            other.text = to_text(decoded, other.architecture);
            if (forms[form_of(other)]++ > 12) continue;
            const Verdict verdict = check(other, 6, random());
            checked += verdict.outcome == Outcome::agrees;
            if (verdict.outcome == Outcome::differs && ++differing <= 30)
                ADD_FAILURE() << verdict.text;
        }
    }
    std::printf("%zu instructions checked\n", checked);
    EXPECT_GT(checked, 3000u);
    EXPECT_EQ(differing, 0u);
}

// Instructions of other kernels that the recorded ones have no form of.
TEST(Semantics, InstructionsOfOtherKernelsDoWhatTheirFormulasSay) {
    const Recorded others[] = {
        {75, 0, {0x10800000ff0b7630, 0x000fe20000000900}, "HADD2 R11, -RZ.H0_H0, c[0x2] [0x0].F32"},
        {90, 0, {0x1000000200287306, 0x000e220000101400}, "I2F.S16 R40, R2.H1"},
        {90, 0, {0x2000000200027306, 0x000fe20000001400}, "I2F.S8 R2, R2.B2"},
        {80, 0, {0x00006000ff057a3e, 0x000fe200000000ff}, "F2FP.PACK_AB R5, RZ, c[0x0][0x180]"},
        {90, 0, {0x00000006ff057c3e, 0x000fe400080000ff}, "F2FP.F16.F32.PACK_AB R5, RZ, UR6"},
        {120, 0, {0x3f80000005047455, 0x000fc80008000804}, "UFFMA UR4, UR5, -UR4, 1"},
        {100, 0, {0x00000004020c7249, 0x004fc80000000006}, "FFMA2"},
        {100, 0, {0x000000040c0c7249, 0x000fc8000001c006}, "FFMA2.FTZ.RZ"},
        {100, 0, {0x4000000004067849, 0x008fc8000120000d}, "FFMA2 R6, R4.F32x2.HI_LO, 2, R13.F32"},
        {100, 0, {0x0000000808087e49, 0x004fc8000900000d}, "FFMA2 with UR8"},
        {100, 0, {0x0000000a08087249, 0x010fc8000010000a}, "FFMA2 with R10.F32x2.LO_HI"},
        {100, 0, {0x000000040c0c724a, 0x000fc80000004000}, "FMUL2.RM"},
        {100, 0, {0x400000000608784a, 0x000fe40001000000}, "FMUL2 R8, R6.F32x2.HI_LO, 2"},
        {100, 0, {0x000000060c0c724b, 0x000fe40000018000}, "FADD2.FTZ.RP"},
        {100, 0, {0x0000000a0802724b, 0x000fe40000200000}, "FADD2 R2, R8.F32x2.HI_LO, R10.F32"},
        {100, 0, {0x0000000700007276, 0x000fc80007810806}, "FMNMX3.FTZ R0, R0, R7, -R6, !PT"},
        {100, 0, {0x4000000700007276, 0x000fc80007820006}, "FMNMX3.NAN R0, R0, |R7|, R6, !PT"},
        {80, 0, {0x0000000007077209, 0x000fc80007830000}, "FMNMX.FTZ.NAN R7, R7, R0, !PT"},
        {75, 0, {0xbd00410000097433, 0x004fd00003804080}, "HSET2.BF.GT.AND R9, R0, -1.25, 2.5"},
        {80, 0, {0x42804700000b7433, 0x008fca0003809080}, "HSET2.BF.LTU.AND R11, R0, 3.25, 7"},
        {90, 0, {0xc0003c00000d7433, 0x008fca0003805000}, "HSET2.NE.AND R13, R0, -2, 1"},
        {120, 0, {0xc0003c00000f7433, 0x004fca000380b200}, "HSET2.LEU.AND R15, |R0|, -2, 1"},
        {75, 0, {0x4100410002007434, 0x004fd00003f0e800}, "HSETP2.GEU.AND P0, PT, R2.H0_H0, 2.5"},
        {90, 0, {0x008f008f03007434, 0x040fe40003f2ea00}, "HSETP2.GEU.AND P1, PT, |R3|.H0_H0"},
        {90, 0, {0x4020402002007434, 0x004fd00003f0e802}, "HSETP2.BF16_V2.GEU.AND P0, PT, R2"},
        {120, 0, {0x3c663c6602000434, 0x000fe20003f2c900}, "@P0 HSETP2.GTU.AND P1, PT, -R2.H0_H0"},
    };
    std::uint64_t seed = 500;
    for (const Recorded& one : others) {
        const Verdict verdict = check(one, 64, ++seed);
        EXPECT_EQ(verdict.outcome, Outcome::agrees) << one.text << ": " << verdict.text;
    }
}

// recorded/single.txt (decode_test.cpp).
std::vector<Recorded> single_instructions() {
    std::ifstream file(std::string(OCCUPIPE_SOURCE_DIR) + "/tests/isa/recorded/single.txt");
    std::vector<Recorded> found;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("#")) continue;
        std::istringstream words(line);
        Recorded one;
        words >> one.architecture >> std::hex >> one.word.low >> one.word.high;
        std::getline(words >> std::ws, one.text);
        found.push_back(one);
    }
    return found;
}

// What is executed of it does what its formula says; what is not is refused in words that say so.
TEST(Semantics, SinglePtxInstructionsDoWhatTheirFormulasSay) {
    std::map<std::string, std::string> without, refused;
    std::uint64_t seed = 900;
    std::size_t checked = 0;
    for (const Recorded& one : single_instructions()) {
        const Verdict verdict = check(one, 16, ++seed);
        checked += verdict.outcome == Outcome::agrees;
        if (verdict.outcome == Outcome::no_formula) without.emplace(form_of(one), one.text);
        if (verdict.outcome == Outcome::refused) {
            refused.emplace(form_of(one), verdict.text);
            EXPECT_THAT(verdict.text, testing::HasSubstr("not executed yet"));
        }
        const bool wrong =
            verdict.outcome == Outcome::differs || verdict.outcome == Outcome::stopped;
        EXPECT_FALSE(wrong) << verdict.text;
    }
    for (const auto& [form, text] : without) std::printf("no formula: %s\n", text.c_str());
    for (const auto& [form, text] : refused) std::printf("refused: %s\n", text.c_str());
    std::printf("%zu instructions checked\n", checked);
    EXPECT_GE(checked, 221u);
}

// Each modifier of these instructions taken for another one: the executor is given a word that
// differs in one bit of the modifiers, the formula the recorded one.
TEST(Semantics, AModifierTakenForAnotherIsNoticed) {
    std::size_t planted = 0, noticed = 0;
    std::set<std::string> unnoticed;
    std::uint64_t seed = 4000;
    for (const Recorded& one : single_instructions()) {
        const Instruction right = decode(one.word, one.address, one.architecture);
        if (!right.unknown.empty() || check(one, 1, ++seed).outcome != Outcome::agrees) continue;
        for (int bit = 72; bit < 91; ++bit) {
            Word word = one.word;
            word.high ^= std::uint64_t{1} << (bit - 64);
            const Instruction wrong = decode(word, one.address, one.architecture);
            if (!wrong.unknown.empty() || wrong.modifiers == right.modifiers) continue;
            const Fault fault{.name = "a modifier taken for another",
                              .concerns = [](const Instruction&) { return true; },
                              .altered = [word](Word, const Instruction&) { return word; }};
            const Verdict verdict = check(one, 24, ++seed, &fault);
            if (verdict.outcome == Outcome::refused) continue;
            ++planted;
            if (verdict.outcome == Outcome::agrees)
                unnoticed.insert(form_of(one) + " as " + to_text(wrong, one.architecture));
            else
                ++noticed;
        }
    }
    for (const std::string& text : unnoticed) std::printf("unnoticed: %s\n", text.c_str());
    std::printf("%zu of %zu noticed\n", noticed, planted);
    // Hints for caches, scopes, roundings of what is exact and the like change no result.
    EXPECT_GE(noticed, 691u);
}

class PlantedFault : public testing::TestWithParam<std::size_t> {};

TEST_P(PlantedFault, IsNoticed) {
    const Fault& fault = faults()[GetParam()];
    std::size_t concerned = 0;
    std::vector<Recorded> instructions = all();
    std::ranges::copy(single_instructions(), std::back_inserter(instructions));
    for (const Recorded& one : instructions) {
        const Instruction decoded = decode(one.word, one.address, one.architecture);
        if (!decoded.unknown.empty() || !fault.concerns(decoded)) continue;
        ++concerned;
        // The same operands that find nothing wrong without the fault.
        const Verdict verdict = check(one, 16, 77 + concerned, &fault);
        if (verdict.outcome != Outcome::differs) continue;
        EXPECT_EQ(check(one, 16, 77 + concerned).outcome, Outcome::agrees) << one.text;
        return;
    }
    FAIL() << fault.name << ": not noticed in " << concerned << " instructions";
}

INSTANTIATE_TEST_SUITE_P(Semantics, PlantedFault, testing::Range(std::size_t{0}, faults().size()));

TEST(Semantics, AtLeastThirtyFaultsArePlanted) {
    EXPECT_GE(faults().size(), 30u);
    std::set<std::string_view> names;
    for (const Fault& fault : faults()) EXPECT_TRUE(names.insert(fault.name).second) << fault.name;
}

}  // namespace
}  // namespace occupipe::isa::test
