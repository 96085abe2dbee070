// SPDX-License-Identifier: MIT
// Packed halves: binary16 or bfloat16, two in a register.
#include "isa/machine/arithmetic/half.h"
#include "isa/machine/floating.h"
#include "isa/machine/operands.h"

namespace occupipe::isa {
namespace {

using arithmetic::Half;

// Step::option of this file.
enum Option : std::uint8_t {
    flush = 0,
    saturate = 1,
    rectify = 2,
    compare = 3,
    combine = 4,
    nan_wins = 5,
    binary32_operands = 7,  // one bit each
    both = 6,               // of a comparison: .H_AND; of a set: .BF
};

// A source with both halves in place and its marks applied.
OCCUPIPE_INLINE const Lanes& halves(const Warp& warp, const Step& step, int i, Lanes& scratch) {
    const Source& source = step.source[static_cast<std::size_t>(i)];
    const Lanes& plain = *raw(warp, source);
    if (!source.negated && !source.absolute && source.halves == 0) return plain;
    const std::uint32_t keep = source.absolute ? 0x7fff7fff : 0xffffffff;
    const std::uint32_t turn = source.negated ? 0x80008000 : 0;
    const bool lower = source.halves == 2, upper = source.halves == 3;
    each_lane([&](int lane) __attribute__((always_inline)) {
        const std::uint32_t word = plain[lane];
        const std::uint32_t low = upper ? word >> 16 : word & 0xffff;
        const std::uint32_t high = lower ? word << 16 : word & 0xffff0000;
        scratch[lane] = ((low | high) & keep) ^ turn;
    });
    return scratch;
}

template <Half half>
OCCUPIPE_INLINE std::uint32_t tidy(std::uint32_t pattern, bool flushing) {
    return flushing ? arithmetic::flushed_half(pattern, half) : pattern;
}

OCCUPIPE_INLINE std::uint32_t low(std::uint32_t word) { return word & 0xffff; }
OCCUPIPE_INLINE std::uint32_t high(std::uint32_t word) { return word >> 16; }
OCCUPIPE_INLINE std::uint32_t packed(std::uint32_t below, std::uint32_t above) {
    return below | above << 16;
}

struct Sum {
    static constexpr int operands = 2;
    template <Half half>
    OCCUPIPE_INLINE static std::uint32_t value(std::uint32_t a, std::uint32_t b, std::uint32_t) {
        return arithmetic::half_sum<half>(a, b);
    }
};
struct Product {
    static constexpr int operands = 2;
    template <Half half>
    OCCUPIPE_INLINE static std::uint32_t value(std::uint32_t a, std::uint32_t b, std::uint32_t) {
        return arithmetic::half_product<half>(a, b);
    }
};
struct Fused {
    static constexpr int operands = 3;
    template <Half half>
    OCCUPIPE_INLINE static std::uint32_t value(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
        return arithmetic::half_fused<half>(a, b, c);
    }
};

// `plain`: nothing is flushed, saturated or rectified.
template <typename Operation, Half half, bool plain>
struct Calculation {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        Lanes scratch_a, scratch_b, scratch_c;
        const Lanes& a = halves(warp, step, 0, scratch_a);
        const Lanes& b = halves(warp, step, 1, scratch_b);
        const Lanes& c = Operation::operands == 3 ? halves(warp, step, 2, scratch_c) : b;
        if constexpr (plain) {
            assign(
                destination(warp, step), active, [&](int lane) __attribute__((always_inline)) {
                    const std::uint32_t below =
                        Operation::template value<half>(low(a[lane]), low(b[lane]), low(c[lane]));
                    const std::uint32_t above = Operation::template value<half>(
                        high(a[lane]), high(b[lane]), high(c[lane]));
                    return packed(below, above);
                });
            return;
        }
        const bool flushing = step.option[flush] != 0;
        const bool clamp = step.option[saturate] != 0, positive = step.option[rectify] != 0;
        const auto one = [&](std::uint32_t x, std::uint32_t y, std::uint32_t z)
            __attribute__((always_inline)) {
            const std::uint32_t value = tidy<half>(
                Operation::template value<half>(tidy<half>(x, flushing), tidy<half>(y, flushing),
                                                tidy<half>(z, flushing)),
                flushing);
            const std::uint32_t clamped = clamp ? arithmetic::half_saturated<half>(value) : value;
            return positive ? arithmetic::half_rectified<half>(clamped) : clamped;
        };
        assign(
            destination(warp, step), active, [&](int lane) __attribute__((always_inline)) {
                return packed(one(low(a[lane]), low(b[lane]), low(c[lane])),
                              one(high(a[lane]), high(b[lane]), high(c[lane])));
            });
    }
};

// HADD2.F32: the sum of two lower halves as a binary32; the compiler widens halves with it.
struct WideSum {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        Lanes scratch_a, scratch_b;
        const Lanes& a = halves(warp, step, 0, scratch_a);
        const Lanes& b = halves(warp, step, 1, scratch_b);
        const bool flushing = step.option[flush] != 0, clamp = step.option[saturate] != 0;
        assign(
            destination(warp, step), active, [&](int lane) __attribute__((always_inline)) {
                const float x =
                    arithmetic::widened<Half::ieee>(tidy<Half::ieee>(low(a[lane]), flushing));
                const float y =
                    arithmetic::widened<Half::ieee>(tidy<Half::ieee>(low(b[lane]), flushing));
                const std::uint32_t sum = arithmetic::canonical(arithmetic::as_bits(x + y));
                return clamp ? arithmetic::saturated(sum) : sum;
            });
    }
};

// HADD2 with a binary32 among its operands (`c[0x2][0x0].F32`): it is added to both halves of the
// other one, and the sum rounded once. Turing packs constants with it.
struct MixedSum {
    OCCUPIPE_INLINE static double number(const Lanes& word, int lane, bool wide, int half) {
        if (wide) return arithmetic::as_float(word[lane]);
        return arithmetic::widened<Half::ieee>(half == 0 ? low(word[lane]) : high(word[lane]));
    }
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        Lanes scratch[2];
        const Lanes* word[2];
        bool wide[2];
        for (int i = 0; i < 2; ++i) {
            wide[i] = (step.option[binary32_operands] >> i & 1) != 0;
            word[i] =
                wide[i] ? &real(warp, step, i, scratch[i]) : &halves(warp, step, i, scratch[i]);
        }
        Lanes& into = destination(warp, step);
        each_of(active, [&](int lane) {
            std::uint32_t sum[2];
            for (int half = 0; half < 2; ++half) {
                sum[half] = arithmetic::halved<Half::ieee>(arithmetic::sum_to_odd(
                    number(*word[0], lane, wide[0], half), number(*word[1], lane, wide[1], half)));
            }
            into[lane] = packed(sum[0], sum[1]);
        });
    }
};

// The disassembler writes the predicate of .RELU where it is another than PT; nobody has seen one.
bool has_other_predicate(const Instruction& one) {
    for (const Operand& operand : one.operands) {
        if (operand.kind == Operand::Kind::predicate) return true;
    }
    return false;
}

template <typename Operation>
Handler bind_calculation(const Instruction& one, int, Step& step, std::string& why_not) {
    const bool one_word = one.has("F32");
    if (one.has("FMZ")) why_not = "with .FMZ";
    if (one.has("OOB")) why_not = "with .OOB";
    if (has_other_predicate(one)) why_not = "with a predicate";
    if (one_word && (one.opcode != "HADD2" || one.has("BF16_V2"))) why_not = "with .F32";
    if (!why_not.empty()) return nullptr;
    step.option[flush] = one.has("FTZ");
    step.option[saturate] = one.has("SAT");
    step.option[rectify] = one.has("RELU");
    int bit = 1;
    for (const Operand& operand : one.operands) {
        if (operand.written) continue;
        if (operand.part == ".F32")
            step.option[binary32_operands] |= static_cast<std::uint8_t>(bit);
        bit *= 2;
    }
    if (step.option[binary32_operands] != 0) {
        if (one.opcode == "HADD2" && !one_word && !one.has("BF16_V2") && !one.has("FTZ") &&
            !one.has("SAT")) {
            return handler_of<MixedSum>();
        }
        why_not = "with a binary32 operand";
        return nullptr;
    }
    if (one_word) return handler_of<WideSum>();
    const bool brain = one.has("BF16_V2");
    if (!one.has("FTZ") && !one.has("SAT") && !one.has("RELU")) {
        return brain ? handler_of<Calculation<Operation, Half::brain, true>>()
                     : handler_of<Calculation<Operation, Half::ieee, true>>();
    }
    return brain ? handler_of<Calculation<Operation, Half::brain, false>>()
                 : handler_of<Calculation<Operation, Half::ieee, false>>();
}

template <Half half>
struct Extreme {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        Lanes scratch_a, scratch_b;
        const Lanes& a = halves(warp, step, 0, scratch_a);
        const Lanes& b = halves(warp, step, 1, scratch_b);
        const Mask minimum = predicate(warp, step, 0);
        const bool flushing = step.option[flush] != 0, nan = step.option[nan_wins] != 0;
        assign(
            destination(warp, step), active, [&](int lane) __attribute__((always_inline)) {
                const bool least = (minimum & lane_bits[lane]) != 0;
                const auto one = [&](std::uint32_t x, std::uint32_t y)
                    __attribute__((always_inline)) {
                    return arithmetic::half_chosen<half>(tidy<half>(x, flushing),
                                                         tidy<half>(y, flushing), least, nan);
                };
                return packed(one(low(a[lane]), low(b[lane])), one(high(a[lane]), high(b[lane])));
            });
    }
};

Handler bind_extreme(const Instruction& one, int, Step& step, std::string& why_not) {
    if (one.has("XORSIGN")) {
        why_not = "with .XORSIGN";
        return nullptr;
    }
    step.option[flush] = one.has("FTZ");
    step.option[nan_wins] = one.has("NAN");
    return one.has("BF16_V2") ? handler_of<Extreme<Half::brain>>()
                              : handler_of<Extreme<Half::ieee>>();
}

struct Outcomes {
    Mask low, high;
};

template <Half half>
OCCUPIPE_INLINE Outcomes outcomes(const Warp& warp, const Step& step) {
    Lanes scratch_a, scratch_b;
    const Lanes& a = halves(warp, step, 0, scratch_a);
    const Lanes& b = halves(warp, step, 1, scratch_b);
    const bool flushing = step.option[flush] != 0;
    const unsigned code = step.option[compare];
    const auto test = [&](std::uint32_t x, std::uint32_t y) __attribute__((always_inline)) {
        return arithmetic::compared(arithmetic::widened<half>(tidy<half>(x, flushing)),
                                    arithmetic::widened<half>(tidy<half>(y, flushing)), code);
    };
    return {.low = mask_where([&](int lane) { return test(low(a[lane]), low(b[lane])); }),
            .high = mask_where([&](int lane) { return test(high(a[lane]), high(b[lane])); })};
}

// Two predicates: of the lower and of the upper halves; with .H_AND of both and its opposite.
template <Half half>
struct Comparison {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Outcomes found = outcomes<half>(warp, step);
        if (step.option[both] != 0) {
            set_compared(warp, step, active, step.option[combine], found.low & found.high);
            return;
        }
        const Mask other = predicate(warp, step, 0);
        set_predicate(warp, step, 0, active, combined(step.option[combine], found.low, other));
        set_predicate(warp, step, 1, active, combined(step.option[combine], found.high, other));
    }
};

// 1 or, without .BF, all bits in each half where its comparison holds; 0 elsewhere.
template <Half half>
struct Set {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Outcomes found = outcomes<half>(warp, step);
        const Mask other = predicate(warp, step, 0);
        const Mask lower = combined(step.option[combine], found.low, other);
        const Mask upper = combined(step.option[combine], found.high, other);
        const std::uint32_t one = half == Half::ieee ? 0x3c00 : 0x3f80;
        const std::uint32_t truth = step.option[both] != 0 ? one : 0xffff;
        assign(
            destination(warp, step), active, [&](int lane) __attribute__((always_inline)) {
                return ((lower & lane_bits[lane]) != 0 ? truth : 0) |
                       ((upper & lane_bits[lane]) != 0 ? truth << 16 : 0);
            });
    }
};

template <template <Half> typename Operation>
Handler bind_comparison(const Instruction& one, int, Step& step, std::string& why_not) {
    const auto how = combination(one);
    if (!how) {
        why_not = "with this combination of predicates";
        return nullptr;
    }
    step.option[combine] = *how;
    step.option[flush] = one.has("FTZ");
    step.option[both] = one.has("H_AND") || one.has("BF");
    step.option[compare] = static_cast<std::uint8_t>(one.word.bits(76, 4));
    return one.has("BF16_V2") ? handler_of<Operation<Half::brain>>()
                              : handler_of<Operation<Half::ieee>>();
}

constexpr Semantics table[] = {
    {"HADD2", &bind_calculation<Sum>},        {"HMUL2", &bind_calculation<Product>},
    {"HFMA2", &bind_calculation<Fused>},      {"HMNMX2", &bind_extreme},
    {"HSETP2", &bind_comparison<Comparison>}, {"HSET2", &bind_comparison<Set>},
};

}  // namespace

std::span<const Semantics> half_semantics() { return table; }

}  // namespace occupipe::isa
