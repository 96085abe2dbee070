// SPDX-License-Identifier: MIT
// binary32: sums, products, fused ones, also two at once and of the uniform datapath; minima,
// comparisons, selections.
#include <algorithm>
#include <array>

#include "isa/machine/floating.h"
#include "isa/machine/operands.h"

namespace occupipe::isa {

#if defined(__x86_64__)
bool host_has_fma() {
    static const bool there = wide_vectors() && __builtin_cpu_supports("fma") != 0;
    return there;
}
#endif

namespace {

using arithmetic::as_bits;
using arithmetic::as_float;
using arithmetic::canonical;
using arithmetic::Rounding;

// Step::option of this file.
enum Option : std::uint8_t {
    flush = 0,
    saturate = 1,
    scale = 2,  // of a product: 2^(option - 3)
    compare = 3,
    combine = 4,
    nan_wins = 5,
    xor_sign = 6,
    // of two at once, for each operand 0 in order, 1 exchanged, 2 one for both, two bits each
    selectors = 7,
};

struct Sum {
    static constexpr int operands = 2;
    template <Rounding rounding, bool>
    OCCUPIPE_INLINE static std::uint32_t value(std::uint32_t a, std::uint32_t b, std::uint32_t,
                                               double) {
        return arithmetic::added<rounding>(a, b);
    }
};

struct Product {
    static constexpr int operands = 2;
    template <Rounding rounding, bool>
    OCCUPIPE_INLINE static std::uint32_t value(std::uint32_t a, std::uint32_t b, std::uint32_t,
                                               double factor) {
        return arithmetic::multiplied<rounding>(a, b, factor);
    }
};

struct Fused {
    static constexpr int operands = 3;
    template <Rounding rounding, bool host_fma>
    OCCUPIPE_INLINE static std::uint32_t value(std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                               double) {
        if constexpr (host_fma && rounding == Rounding::nearest) {
            return canonical(as_bits(__builtin_fmaf(as_float(a), as_float(b), as_float(c))));
        } else {
            return arithmetic::fused<rounding>(a, b, c);
        }
    }
};

// `plain`: nothing is flushed, saturated or scaled.
template <typename Operation, Rounding rounding, bool plain>
struct Calculation {
    template <bool host_fma>
    OCCUPIPE_INLINE static void compute(const Step& step, Mask mask, Lanes& result, const Lanes& a,
                                        const Lanes& b, const Lanes& c) {
        if constexpr (plain) {
            assign(
                result, mask, [&](int lane) __attribute__((always_inline)) {
                    return Operation::template value<rounding, host_fma>(a[lane], b[lane], c[lane],
                                                                         1);
                });
        } else {
            const std::uint32_t kept = step.option[flush] != 0 ? 0x80000000 : 0xffffffff;
            const bool clamp = step.option[saturate] != 0;
            const double factor = std::bit_cast<double>(
                static_cast<std::uint64_t>(1023 - 3 + step.option[scale]) << 52);
            // A denormal keeps its sign alone where it is flushed.
            const auto tidy = [&](std::uint32_t x) __attribute__((always_inline)) {
                return (x & 0x7f800000) == 0 ? x & kept : x;
            };
            assign(
                result, mask, [&](int lane) __attribute__((always_inline)) {
                    const std::uint32_t value = tidy(Operation::template value<rounding, host_fma>(
                        tidy(a[lane]), tidy(b[lane]), tidy(c[lane]), factor));
                    return clamp ? arithmetic::saturated(value) : value;
                });
        }
    }

    template <bool host_fma>
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        Lanes scratch_a, scratch_b, scratch_c;
        const Lanes& a = real(warp, step, 0, scratch_a);
        const Lanes& b = real(warp, step, 1, scratch_b);
        const Lanes& c = Operation::operands == 3 ? real(warp, step, 2, scratch_c) : b;
        compute<host_fma>(step, written(step, active), destination(warp, step), a, b, c);
    }
};

// Two at once, in a pair of registers.
template <typename Operation, Rounding rounding>
struct PairCalculation {
    template <bool host_fma>
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        std::array<std::array<Lanes, 2>, 3> operand;
        for (int i = 0; i < 3; ++i) {
            const int from = std::min(i, Operation::operands - 1);
            const Source& source = step.source[static_cast<std::size_t>(from)];
            const Lanes* plain = raw(warp, source);
            const int selector = step.option[selectors] >> 2 * from & 3;
            const std::uint32_t keep = source.absolute ? 0x7fffffff : 0xffffffff;
            const std::uint32_t turn = source.negated ? 0x80000000 : 0;
            for (int half = 0; half < 2; ++half) {
                const Lanes& word = plain[selector == 2 ? 0 : selector == 1 ? 1 - half : half];
                Lanes& into = operand[static_cast<std::size_t>(i)][static_cast<std::size_t>(half)];
                each_lane([&](int lane) { into[lane] = (word[lane] & keep) ^ turn; });
            }
        }
        Lanes* const result = &destination(warp, step);
        for (std::size_t half = 0; half < 2; ++half) {
            Calculation<Operation, rounding, false>::template compute<host_fma>(
                step, written(step, active), result[half], operand[0][half], operand[1][half],
                operand[2][half]);
        }
    }
};

void note_marks(const Instruction& one, Step& step) {
    step.option[flush] = one.has("FTZ");
    step.option[saturate] = one.has("SAT");
    step.option[scale] = 3;
    constexpr std::array<std::pair<std::string_view, int>, 6> scales = {
        {{"D8", 0}, {"D4", 1}, {"D2", 2}, {"M2", 4}, {"M4", 5}, {"M8", 6}}};
    for (const auto& [name, value] : scales) {
        if (one.has(name)) step.option[scale] = static_cast<std::uint8_t>(value);
    }
}

template <typename Operation, template <typename, Rounding> typename Wrapped>
Handler by_rounding(Rounding rounding) {
    switch (rounding) {
        case Rounding::nearest:
            return fused_handler_of<Wrapped<Operation, Rounding::nearest>>();
        case Rounding::down:
            return fused_handler_of<Wrapped<Operation, Rounding::down>>();
        case Rounding::up:
            return fused_handler_of<Wrapped<Operation, Rounding::up>>();
        case Rounding::zero:
            break;
    }
    return fused_handler_of<Wrapped<Operation, Rounding::zero>>();
}

template <typename Operation, Rounding rounding>
using Marked = Calculation<Operation, rounding, false>;

template <typename Operation>
Handler bind_calculation(const Instruction& one, int, Step& step, std::string& why_not) {
    if (one.has("FMZ")) {
        why_not = "with .FMZ";
        return nullptr;
    }
    note_marks(one, step);
    const Rounding rounding = rounding_of(one);
    const bool plain =
        step.option[flush] == 0 && step.option[saturate] == 0 && step.option[scale] == 3;
    if (plain && rounding == Rounding::nearest) {
        return fused_handler_of<Calculation<Operation, Rounding::nearest, true>>();
    }
    return by_rounding<Operation, Marked>(rounding);
}

template <typename Operation>
Handler bind_pair(const Instruction& one, int, Step& step, std::string& why_not) {
    if (one.has("FMZ")) {
        why_not = "with .FMZ";
        return nullptr;
    }
    note_marks(one, step);
    int packed = 0;
    int number = 0;
    for (const Operand& operand : one.operands) {
        if (operand.written) continue;
        const bool single = operand.kind == Operand::Kind::real || operand.part == ".F32";
        const int selector = single ? 2 : operand.part == ".F32x2.LO_HI" ? 1 : 0;
        packed |= selector << 2 * number++;
    }
    step.option[selectors] = static_cast<std::uint8_t>(packed);
    return by_rounding<Operation, PairCalculation>(rounding_of(one));
}

// FMNMX and FMNMX3. Without .NAN a number wins over a NaN.
struct Extreme {
    // `least` and `nan` are all ones or 0.
    OCCUPIPE_INLINE static std::uint32_t chosen(std::uint32_t a, std::uint32_t b,
                                                std::uint32_t least, std::uint32_t nan) {
        const std::uint32_t a_nan = (a & 0x7fffffff) > 0x7f800000 ? nan : 0;
        const std::uint32_t b_nan = (b & 0x7fffffff) > 0x7f800000 ? nan : 0;
        const std::uint32_t number = arithmetic::extreme(a, b, least);
        return (a_nan | b_nan) != 0 ? arithmetic::nan32 : number;
    }

    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        Lanes scratch_a, scratch_b, scratch_c, best;
        const Lanes& a = real(warp, step, 0, scratch_a);
        const Lanes& b = real(warp, step, 1, scratch_b);
        const Mask minimum = predicate(warp, step, 0);
        const std::uint32_t kept = step.option[flush] != 0 ? 0x80000000 : 0xffffffff;
        const std::uint32_t nan = step.option[nan_wins] != 0 ? 0xffffffff : 0;
        const auto tidy = [&](std::uint32_t x) __attribute__((always_inline)) {
            return (x & 0x7f800000) == 0 ? x & kept : x;
        };
        each_lane([&](int lane) __attribute__((always_inline)) {
            const std::uint32_t least = (minimum & lane_bits[lane]) != 0 ? 0xffffffff : 0;
            best[lane] = chosen(tidy(a[lane]), tidy(b[lane]), least, nan);
        });
        if (step.source_count == 3) {
            const Lanes& c = real(warp, step, 2, scratch_c);
            each_lane([&](int lane) __attribute__((always_inline)) {
                const std::uint32_t least = (minimum & lane_bits[lane]) != 0 ? 0xffffffff : 0;
                best[lane] = chosen(best[lane], tidy(c[lane]), least, nan);
            });
        }
        if (step.option[xor_sign] != 0) {
            const Lanes& x = *raw(warp, step, 0);
            const Lanes& y = *raw(warp, step, 1);
            each_lane([&](int lane) __attribute__((always_inline)) {
                const std::uint32_t sign = (x[lane] ^ y[lane]) & 0x80000000;
                const bool nan_result = (best[lane] & 0x7fffffff) > 0x7f800000;
                best[lane] = nan_result ? best[lane] : best[lane] | sign;
            });
        }
        assign(destination(warp, step), written(step, active), best);
    }
};

Handler bind_extreme(const Instruction& one, int, Step& step, std::string& why_not) {
    step.option[flush] = one.has("FTZ");
    step.option[nan_wins] = one.has("NAN");
    step.option[xor_sign] = one.has("XORSIGN");
    if (one.has("XORSIGN")) {
        // The sign is that of what the registers hold; PTX has it with absolute values alone.
        int absolute = 0;
        for (const Operand& operand : one.operands) {
            absolute += operand.absolute && !operand.negated;
        }
        if (absolute != 2) {
            why_not = "with .XORSIGN of operands with a sign";
            return nullptr;
        }
    }
    return handler_of<Extreme>();
}

OCCUPIPE_INLINE Mask compared(const Warp& warp, const Step& step) {
    Lanes scratch_a, scratch_b;
    const Lanes& a = real(warp, step, 0, scratch_a);
    const Lanes& b = real(warp, step, 1, scratch_b);
    const unsigned code = step.option[compare];
    const std::uint32_t kept = step.option[flush] != 0 ? 0x80000000 : 0xffffffff;
    const auto tidy = [&](std::uint32_t x) __attribute__((always_inline)) {
        return as_float((x & 0x7f800000) == 0 ? x & kept : x);
    };
    const std::uint32_t on_less = (code & 1) != 0, on_equal = (code & 2) != 0;
    const std::uint32_t on_greater = (code & 4) != 0, on_nan = (code & 8) != 0;
    return mask_where([&](int lane) __attribute__((always_inline)) {
        const float x = tidy(a[lane]), y = tidy(b[lane]);
        const std::uint32_t rest = x == y ? on_equal : on_nan;
        const std::uint32_t above = x > y ? on_greater : rest;
        return (x < y ? on_less : above) != 0;
    });
}

struct Comparison {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        set_compared(warp, step, active, step.option[combine], compared(warp, step));
    }
};

Handler bind_comparison(const Instruction& one, int, Step& step, std::string& why_not) {
    const auto how = combination(one);
    if (!how) {
        why_not = "with this combination of predicates";
        return nullptr;
    }
    step.option[combine] = *how;
    step.option[flush] = one.has("FTZ");
    step.option[compare] = static_cast<std::uint8_t>(one.word.bits(76, 4));
    return handler_of<Comparison>();
}

// FSET: 1.0 where the comparison holds, 0 elsewhere.
struct SetReal {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Mask truth =
            combined(step.option[combine], compared(warp, step), predicate(warp, step, 0));
        assign(
            destination(warp, step), active, [&](int lane) __attribute__((always_inline)) {
                return (truth & lane_bits[lane]) != 0 ? 0x3f800000U : 0U;
            });
    }
};

Handler bind_set(const Instruction& one, int architecture, Step& step, std::string& why_not) {
    if (!one.has("BF")) {
        why_not = "without .BF";
        return nullptr;
    }
    const Handler comparison = bind_comparison(one, architecture, step, why_not);
    return comparison ? handler_of<SetReal>() : nullptr;
}

struct Selection {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        Lanes scratch_a, scratch_b;
        const Lanes& a = real(warp, step, 0, scratch_a);
        const Lanes& b = real(warp, step, 1, scratch_b);
        const Mask first = predicate(warp, step, 0);
        const std::uint32_t kept = step.option[flush] != 0 ? 0x80000000 : 0xffffffff;
        assign(
            destination(warp, step),
            written(step, active), [&](int lane) __attribute__((always_inline)) {
                const std::uint32_t x = (first & lane_bits[lane]) != 0 ? a[lane] : b[lane];
                return (x & 0x7f800000) == 0 ? x & kept : x;
            });
    }
};

Handler bind_selection(const Instruction& one, int, Step& step, std::string&) {
    step.option[flush] = one.has("FTZ");
    return handler_of<Selection>();
}

// Whether a quotient needs the long way round: one of the operands or the quotient is near the ends
// of the exponents, or the remainder would be denormal. The hardware's own bounds are not known;
// these are the ones within which the short way is exact, and both ways give the same quotient.
struct DivisionCheck {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        Lanes scratch_a, scratch_b;
        const Lanes& a = real(warp, step, 0, scratch_a);
        const Lanes& b = real(warp, step, 1, scratch_b);
        const Mask outcome = mask_where([&](int lane) __attribute__((always_inline)) {
            const auto above = static_cast<std::int32_t>(a[lane] >> 23 & 255);
            const auto below = static_cast<std::int32_t>(b[lane] >> 23 & 255);
            const std::int32_t quotient = above - below;
            return (above < 27) | (above == 255) | (below < 1) | (below > 252) | (quotient > 125) |
                   (quotient < -124);
        });
        set_predicate(warp, step, 0, active, outcome);
    }
};

Handler bind_check(const Instruction&, int, Step&, std::string&) {
    return handler_of<DivisionCheck>();
}

constexpr Semantics table[] = {
    {"FADD", &bind_calculation<Sum>},
    {"FMUL", &bind_calculation<Product>},
    {"FFMA", &bind_calculation<Fused>},
    {"FADD2", &bind_pair<Sum>},
    {"FMUL2", &bind_pair<Product>},
    {"FFMA2", &bind_pair<Fused>},
    {"FMNMX", &bind_extreme},
    {"FMNMX3", &bind_extreme},
    {"FSETP", &bind_comparison},
    {"FSET", &bind_set},
    {"FSEL", &bind_selection},
    {"FCHK", &bind_check},
    {"UFADD", &bind_calculation<Sum>},
    {"UFFMA", &bind_calculation<Fused>},
    {"UFMUL", &bind_calculation<Product>},
    {"UFSETP", &bind_comparison},
    {"UFSEL", &bind_selection},
};

}  // namespace

std::span<const Semantics> float_semantics() { return table; }

}  // namespace occupipe::isa
