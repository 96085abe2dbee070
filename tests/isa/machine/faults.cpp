// SPDX-License-Identifier: MIT
#include "tests/isa/machine/faults.h"

#include <bit>
#include <cmath>

#include "isa/machine/semantics.h"

namespace occupipe::isa::test {
namespace {

std::function<bool(const Instruction&)> is(std::string_view opcode, std::string_view mark = "") {
    return [=](const Instruction& one) {
        return one.opcode == opcode && (mark.empty() || one.has(mark));
    };
}

void flip(Word& word, int bit) {
    (bit < 64 ? word.low : word.high) ^= std::uint64_t{1} << bit % 64;
}

// Bits turned over.
std::function<Word(Word, const Instruction&)> turned(std::vector<int> bits) {
    return [=](Word word, const Instruction&) {
        for (const int bit : bits) flip(word, bit);
        return word;
    };
}

std::function<Word(Word, const Instruction&)> set_to(int first, int count, std::uint64_t value) {
    return [=](Word word, const Instruction&) {
        for (int i = 0; i < count; ++i) {
            if (word.bit(first + i) != ((value >> i & 1) != 0)) flip(word, first + i);
        }
        return word;
    };
}

bool register_at(const Instruction& one, std::size_t operand) {
    return operand < one.operands.size() &&
           one.operands[operand].kind == Operand::Kind::registers && one.operands[operand].number;
}

// --- around the handler ---

void all_lanes_always(Handler real, Warp& warp, const Step& step, Mask) {
    real(warp, step, all_lanes);
}
void first_lane_left_out(Handler real, Warp& warp, const Step& step, Mask active) {
    if (std::popcount(active) > 1) active &= active - 1;
    real(warp, step, active);
}
void predicates_inverted(Handler real, Warp& warp, const Step& step, Mask active) {
    Step other = step;
    for (PredicateSource& source : other.predicate_in) source.inverted = !source.inverted;
    real(warp, other, active);
}
void carry_lost(Handler real, Warp& warp, const Step& step, Mask active) {
    Step other = step;
    for (PredicateSource& source : other.predicate_in) {
        source = {.index = predicate_index::always, .inverted = true};
    }
    real(warp, other, active);
}
void carry_not_written(Handler real, Warp& warp, const Step& step, Mask active) {
    Step other = step;
    other.predicate_out.fill(predicate_index::sink);
    real(warp, other, active);
}
void outcomes_exchanged(Handler real, Warp& warp, const Step& step, Mask active) {
    Step other = step;
    std::swap(other.predicate_out[0], other.predicate_out[1]);
    real(warp, other, active);
}
void negation_lost(Handler real, Warp& warp, const Step& step, Mask active) {
    Step other = step;
    for (Source& source : other.source) source.negated = false;
    real(warp, other, active);
}
void absolute_lost(Handler real, Warp& warp, const Step& step, Mask active) {
    Step other = step;
    for (Source& source : other.source) source.absolute = false;
    real(warp, other, active);
}
void inversion_lost(Handler real, Warp& warp, const Step& step, Mask active) {
    Step other = step;
    for (Source& source : other.source) source.inverted = false;
    real(warp, other, active);
}
void selectors_lost(Handler real, Warp& warp, const Step& step, Mask active) {
    Step other = step;
    for (Source& source : other.source) source.halves = 0;
    real(warp, other, active);
}
void sources_exchanged(Handler real, Warp& warp, const Step& step, Mask active) {
    Step other = step;
    std::swap(other.source[0], other.source[1]);
    real(warp, other, active);
}
void third_is_first(Handler real, Warp& warp, const Step& step, Mask active) {
    Step other = step;
    other.source[2] = other.source[0];
    real(warp, other, active);
}
void last_two_exchanged(Handler real, Warp& warp, const Step& step, Mask active) {
    Step other = step;
    std::swap(other.source[1], other.source[2]);
    real(warp, other, active);
}
// As the host's processor shifts: by the lowest five bits.
void shift_not_clamped(Handler real, Warp& warp, const Step& step, Mask active) {
    const Source& by = step.source[1];
    if (by.constant) return real(warp, step, active);
    const Lanes kept = warp.registers[by.index];
    each_lane([&](int lane) { warp.registers[by.index][lane] &= 31; });
    const bool overwritten = step.destination == by.index;
    real(warp, step, active);
    if (!overwritten) warp.registers[by.index] = kept;
}
// The result's upper word is forgotten.
void upper_word_lost(Handler real, Warp& warp, const Step& step, Mask active) {
    const Lanes kept = warp.registers[step.destination + 1];
    real(warp, step, active);
    warp.registers[step.destination + 1] = kept;
}
void upper_half_lost(Handler real, Warp& warp, const Step& step, Mask active) {
    const Lanes kept = warp.registers[step.destination];
    real(warp, step, active);
    Lanes& into = warp.registers[step.destination];
    each_lane([&](int lane) { into[lane] = (into[lane] & 0xffff) | (kept[lane] & 0xffff0000); });
}
// What a conversion in C would leave: 0x80000000 where the value does not fit.
void no_saturation(Handler real, Warp& warp, const Step& step, Mask active) {
    real(warp, step, active);
    Lanes& into = warp.registers[step.destination];
    each_of(active, [&](int lane) {
        if (into[lane] == 0x7fffffff || into[lane] == 0xffffffff) into[lane] = 0x80000000;
    });
}
void nan_not_canonical(Handler real, Warp& warp, const Step& step, Mask active) {
    real(warp, step, active);
    Lanes& into = warp.registers[step.destination];
    each_of(active, [&](int lane) {
        if (into[lane] == 0x7fffffff) into[lane] = 0x7fc00000;
    });
}
void zero_sign_lost(Handler real, Warp& warp, const Step& step, Mask active) {
    real(warp, step, active);
    Lanes& into = warp.registers[step.destination];
    each_of(active, [&](int lane) {
        if (into[lane] == 0x80000000) into[lane] = 0;
    });
}
void denormals_flushed(Handler real, Warp& warp, const Step& step, Mask active) {
    real(warp, step, active);
    Lanes& into = warp.registers[step.destination];
    each_of(active, [&](int lane) {
        if ((into[lane] & 0x7f800000) == 0) into[lane] &= 0x80000000;
    });
}
// Minimum and maximum of a NaN and a number: the NaN.
void nan_wins(Handler real, Warp& warp, const Step& step, Mask active) {
    Lanes nans = splat(0);
    for (int i = 0; i < 2; ++i) {
        const Lanes& from = *raw(warp, step, i);
        each_lane([&](int lane) { nans[lane] |= (from[lane] & 0x7fffffff) > 0x7f800000; });
    }
    real(warp, step, active);
    each_of(active, [&](int lane) {
        if (nans[lane] != 0) warp.registers[step.destination][lane] = 0x7fffffff;
    });
}
// A fused operation that rounds twice: the product first.
void rounded_twice(Handler, Warp& warp, const Step& step, Mask active) {
    Lanes a, b, c;
    const Lanes x = real(warp, step, 0, a), y = real(warp, step, 1, b), z = real(warp, step, 2, c);
    each_of(active, [&](int lane) {
        const volatile float product =
            std::bit_cast<float>(x[lane]) * std::bit_cast<float>(y[lane]);
        const float sum = product + std::bit_cast<float>(z[lane]);
        warp.registers[step.destination][lane] =
            std::isnan(sum) ? 0x7fffffff : std::bit_cast<std::uint32_t>(sum);
    });
}
// The lane's neighbour: a shuffle that is off by one.
void one_lane_off(Handler real, Warp& warp, const Step& step, Mask active) {
    real(warp, step, active);
    Lanes& into = warp.registers[step.destination];
    const Lanes was = into;
    each_of(active, [&](int lane) { into[lane] = was[(lane + 1) % 32]; });
}
void last_bit_off(Handler real, Warp& warp, const Step& step, Mask active) {
    real(warp, step, active);
    Lanes& into = warp.registers[step.destination];
    each_of(active, [&](int lane) { into[lane] ^= lane == 17 ? 1 : 0; });
}
void atomics_return_the_new_value(Handler real, Warp& warp, const Step& step, Mask active) {
    real(warp, step, active);
    Lanes& into = warp.registers[step.destination];
    const Lanes& value = *raw(warp, step, 0);
    each_of(active, [&](int lane) { into[lane] += value[lane]; });
}

using Concerns = std::function<bool(const Instruction&)>;

Concerns any(const Concerns& first, const Concerns& second) {
    return [=](const Instruction& one) { return first(one) || second(one); };
}

Concerns without(const Concerns& first, std::string_view mark) {
    return [=](const Instruction& one) { return first(one) && !one.has(mark); };
}

std::vector<Fault> real_faults() {
    const auto real_result = [](const Instruction& one) {
        return one.opcode == "FADD" || one.opcode == "FMUL" || one.opcode == "FFMA";
    };
    return {
        {"FADD does not flush", is("FADD", "FTZ"), turned({80})},
        {"FMUL does not flush", is("FMUL", "FTZ"), turned({80})},
        {"FFMA flushes though nobody asked", without(without(is("FFMA"), "FTZ"), "SAT"), nullptr,
         &denormals_flushed},
        {"FADD does not saturate", is("FADD", "SAT"), turned({77})},
        {"FFMA does not saturate", is("FFMA", "SAT"), turned({77})},
        {"FFMA rounds its product",
         without(without(without(without(is("FFMA"), "RM"), "RP"), "RZ"), "SAT"), nullptr,
         &rounded_twice},
        {"FFMA.RM rounds to nearest", is("FFMA", "RM"), set_to(78, 2, 0)},
        {"FFMA.RP rounds down", is("FFMA", "RP"), set_to(78, 2, 1)},
        {"FFMA.RZ rounds to nearest", is("FFMA", "RZ"), set_to(78, 2, 0)},
        {"DFMA.RM rounds to nearest", is("DFMA", "RM"), set_to(78, 2, 0)},
        {"DMUL.RP rounds to nearest", is("DMUL", "RP"), set_to(78, 2, 0)},
        {"a NaN keeps another pattern", real_result, nullptr, &nan_not_canonical},
        {"FADD forgets the sign of zero", is("FADD"), nullptr, &zero_sign_lost},
        {"FMNMX lets the NaN win", is("FMNMX"), nullptr, &nan_wins},
        {"FMNMX takes the maximum for the minimum", is("FMNMX"), nullptr, &predicates_inverted},
        {"FSEL selects the other way round", is("FSEL"), nullptr, &predicates_inverted},
        {"FSETP compares ordered where unordered is asked",
         [](const Instruction& one) {
             return one.opcode == "FSETP" && (one.has("GEU") || one.has("NEU") || one.has("GTU"));
         },
         turned({79})},
        {"FSETP does not flush", is("FSETP", "FTZ"), turned({80})},
        {"FSETP ORs where it should AND", is("FSETP", "AND"), set_to(74, 2, 1)},
        {"FSETP exchanges its operands", is("FSETP", "GT"), nullptr, &sources_exchanged},
        {"DSETP ignores NaNs", is("DSETP", "NEU"), turned({79})},
        {"DSETP exchanges its two outcomes", is("DSETP", "MAX"), nullptr, &outcomes_exchanged},
        {"FADD forgets a negation", is("FADD"), nullptr, &negation_lost},
        {"FSETP forgets an absolute value", is("FSETP"), nullptr, &absolute_lost},
        {"DADD forgets a negation", is("DADD"), nullptr, &negation_lost},
        {"DFMA loses the upper word", is("DFMA"), nullptr, &upper_word_lost},
        {"HADD2.F32 reads the lower half always", is("HADD2", "F32"), nullptr, &selectors_lost},
        {"HFMA2 forgets the selectors", any(is("HADD2"), is("HFMA2")), nullptr, &selectors_lost},
        {"HFMA2 computes the lower half alone", is("HFMA2"), nullptr, &upper_half_lost},
        {"HFMA2 takes bfloat16 for binary16", is("HFMA2", "BF16_V2"), turned({85})},
        {"HFMA2 does not saturate", is("HFMA2", "SAT"), turned({77})},
        {"HFMA2 does not rectify", is("HFMA2", "RELU"), turned({79})},
        {"HMNMX2 takes the maximum for the minimum", is("HMNMX2"), nullptr, &predicates_inverted},
        {"HSET2 writes ones where .BF asks for 1.0", is("HSET2", "BF"), turned({71})},
        {"F2I wraps", is("F2I", "NTZ"), nullptr, &no_saturation},
        {"F2I.TRUNC rounds to nearest", is("F2I", "TRUNC"), set_to(78, 2, 0)},
        {"F2I.U32 is signed", is("F2I", "U32"), turned({72})},
        {"F2I makes another number of a NaN", is("F2I", "NTZ"), turned({77})},
        {"I2F.U32 is signed", is("I2F", "U32"), turned({74})},
        {"I2F.RP rounds to nearest", is("I2F", "RP"), set_to(78, 2, 0)},
        {"I2F.S64 reads 32 bits", is("I2F", "S64"), turned({84, 85})},
        {"F2F.RZ rounds to nearest", is("F2F", "RZ"), set_to(78, 2, 0)},
        {"F2IP is unsigned", is("F2IP", "S8"), turned({76})},
        {"F2IP exchanges its numbers", is("F2IP"), nullptr, &sources_exchanged},
        {"F2FP of one number fills the upper half", is("F2FP", "MERGE_C"), nullptr,
         &sources_exchanged},
        {"FRND.FLOOR rounds to nearest", is("FRND", "FLOOR"), set_to(78, 2, 0)},
        {"F2FP exchanges the halves", is("F2FP"), nullptr, &sources_exchanged},
        {"MUFU.SIN is the cosine", is("MUFU", "SIN"), turned({74})},
        {"MUFU.RSQ is an ulp off", is("MUFU", "RSQ"), nullptr, &last_bit_off},
        {"MUFU.TANH of a half is a digit off", is("MUFU", "F16"), nullptr, &last_bit_off},
        {"MUFU.TANH takes bfloat16 for binary16",
         [](const Instruction& one) { return is("MUFU", "TANH")(one) && one.has("BF16"); },
         turned({72, 73})},
        {"MUFU.EX2 of a half is its hyperbolic tangent",
         [](const Instruction& one) { return is("MUFU", "EX2")(one) && one.has("F16"); },
         set_to(74, 4, 9)},
        {"FRND of a half rounds to nearest",
         [](const Instruction& one) { return is("FRND", "FLOOR")(one) && one.has("F16"); },
         set_to(78, 2, 0)},
        {"FRND takes bfloat16 for binary32", is("FRND", "BF16"),
         [](Word word, const Instruction&) {
             return set_to(75, 3, 2)(set_to(84, 3, 2)(word, {}), {});
         }},
        {"F2FP takes E5M2 for E4M3, packing", is("F2FP", "PACK_AB_MERGE_C"), turned({76})},
        {"F2FP takes E5M2 for E4M3, of halves", is("F2FP", "UNPACK_B_MERGE_C"), turned({76})},
        {"F2FP takes E5M2 for E4M3, unpacking", is("F2FP", "UNPACK_B"), turned({73})},
        {"F2FP does not rectify",
         [](const Instruction& one) {
             return is("F2FP", "RELU")(one) && (one.has("E4M3") || one.has("E5M2"));
         },
         turned({75})},
        {"F2FP merges another register", is("F2FP", "PACK_AB_MERGE_C"), nullptr, &third_is_first},
        {"F2I takes an immediate of binary32 for one of binary64",
         [](const Instruction& one) {
             return one.opcode == "F2I" && one.has("S64") && !one.has("F64") && !one.has("F16") &&
                    one.operands.back().kind == Operand::Kind::real;
         },
         set_to(84, 2, 3)},
        {"MUFU.RCP64H is a digit off", is("MUFU", "RCP64H"), nullptr, &last_bit_off},
    };
}

std::vector<Fault> integer_faults() {
    return {
        {"IADD3 loses the carry it reads", is("IADD3", "X"), nullptr, &carry_lost},
        {"IADD3 does not write its carry", is("IADD3"), nullptr, &carry_not_written},
        {"IADD3 forgets an inversion", is("IADD3", "X"), nullptr, &inversion_lost},
        {"IMAD.WIDE is signed",
         [](const Instruction& one) {
             return one.opcode == "IMAD" && one.has("WIDE") && one.has("U32") &&
                    register_at(one, 2);
         },
         turned({73})},
        {"IMAD.HI is signed",
         [](const Instruction& one) {
             return one.opcode == "IMAD" && one.has("HI") && one.has("U32") && register_at(one, 2);
         },
         turned({73})},
        {"IMAD loses its carry", is("IMAD", "X"), nullptr, &carry_lost},
        {"IMAD adds the factor",
         [](const Instruction& one) { return one.opcode == "IMAD" && one.modifiers.empty(); },
         nullptr, &last_two_exchanged},
        {"ISETP is signed", is("ISETP", "U32"), turned({73})},
        {"ISETP.EX forgets the lower words", is("ISETP", "EX"), nullptr, &carry_lost},
        {"ISETP inverts its predicate", is("ISETP"), nullptr, &predicates_inverted},
        {"SHF takes the lowest five bits",
         [](const Instruction& one) {
             return one.opcode == "SHF" && !one.has("W") && register_at(one, 2);
         },
         nullptr, &shift_not_clamped},
        {"SHF.R is logical", is("SHF", "S32"), set_to(73, 2, 3)},
        {"SHF forgets .HI", is("SHF", "HI"), turned({80})},
        {"LOP3 exchanges two operands", is("LOP3"), nullptr, &sources_exchanged},
        {"LOP3 reads the table the other way round", is("LOP3"),
         [](Word word, const Instruction&) {
             const std::uint64_t table = word.bits(72, 8);
             std::uint64_t other = 0;
             for (int i = 0; i < 8; ++i) other |= (table >> i & 1) << (7 - i);
             return set_to(72, 8, other)(word, {});
         }},
        {"PRMT does not replicate the sign",
         [](const Instruction& one) {
             return one.opcode == "PRMT" && one.operands[2].kind == Operand::Kind::immediate &&
                    (one.operands[2].value & 0x8888) != 0;
         },
         [](Word word, const Instruction&) {
             word.low &= ~(std::uint64_t{0x8888} << 32);
             return word;
         }},
        {"SGXT does not extend the sign", without(is("SGXT"), "U32"), turned({73})},
        {"FLO counts from the other end", is("FLO", "SH"), turned({74})},
        {"IMNMX is unsigned", without(is("IMNMX"), "U32"), turned({73})},
        {"LEA.HI.X loses the carry", is("LEA", "X"), nullptr, &carry_lost},
        {"SEL selects the other way round", is("SEL"), nullptr, &predicates_inverted},
        {"IDP.4A is unsigned", is("IDP", "4A"), turned({73})},
    };
}

std::vector<Fault> warp_faults() {
    return {
        {"SHFL.UP goes down", is("SHFL", "UP"), set_to(58, 2, 2)},
        {"SHFL is one lane off", is("SHFL"), nullptr, &one_lane_off},
        {"VOTE counts lanes that do not take part", is("VOTE", "ALL"), nullptr, &all_lanes_always},
        {"MATCH leaves a lane out", is("MATCH", "ANY"), nullptr, &first_lane_left_out},
        {"REDUX leaves a lane out", is("REDUX", "SUM"), nullptr, &first_lane_left_out},
        {"HMMA loses the last bit", is("HMMA"), nullptr, &last_bit_off},
        {"IMMA takes signed bytes for unsigned ones", is("IMMA", "SAT"), turned({76})},
        {"DMMA loses the last bit", is("DMMA"), nullptr, &last_bit_off},
        {"LDG extends no sign", is("LDG", "S8"), set_to(73, 3, 0)},
        {"LDG.64 loads one word", is("LDG", "64"), nullptr, &upper_word_lost},
        {"STG leaves a lane out", is("STG"), nullptr, &first_lane_left_out},
        {"LDS is one lane off", is("LDS"), nullptr, &one_lane_off},
        {"ATOMG returns the new value", is("ATOMG", "ADD"), nullptr, &atomics_return_the_new_value},
        {"ATOMG.MIN is unsigned", is("ATOMG", "S32"), set_to(73, 3, 0)},
        {"ATOMS.XOR is OR", is("ATOMS", "XOR"), set_to(87, 4, 6)},
        {"the active mask is ignored by additions", any(is("IADD3"), is("FADD")), nullptr,
         &all_lanes_always},
        {"the active mask is ignored by comparisons", any(is("ISETP"), is("FSETP")), nullptr,
         &all_lanes_always},
    };
}

}  // namespace

const std::vector<Fault>& faults() {
    static const std::vector<Fault> all = [] {
        std::vector<Fault> together = real_faults();
        for (const auto& more : {integer_faults(), warp_faults()}) {
            together.insert(together.end(), more.begin(), more.end());
        }
        return together;
    }();
    return all;
}

}  // namespace occupipe::isa::test
