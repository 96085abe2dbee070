// SPDX-License-Identifier: MIT
// binary64 in pairs of registers.
#include <cmath>

#include "isa/machine/floating.h"
#include "isa/machine/operands.h"

namespace occupipe::isa {
namespace {

using arithmetic::as_bits;
using arithmetic::as_double;
using arithmetic::binary64;
using arithmetic::Rounding;

struct Sum {
    static constexpr int operands = 2;
    template <bool>
    OCCUPIPE_INLINE static double nearest(double a, double b, double) {
        return a + b;
    }
    static std::uint64_t exact(std::uint64_t a, std::uint64_t b, std::uint64_t, Rounding rounding) {
        return arithmetic::total(a, b, binary64, rounding);
    }
};

struct Product {
    static constexpr int operands = 2;
    template <bool>
    OCCUPIPE_INLINE static double nearest(double a, double b, double) {
        return a * b;
    }
    static std::uint64_t exact(std::uint64_t a, std::uint64_t b, std::uint64_t, Rounding rounding) {
        return arithmetic::product(a, b, binary64, rounding);
    }
};

struct Fused {
    static constexpr int operands = 3;
    template <bool host_fma>
    OCCUPIPE_INLINE static double nearest(double a, double b, double c) {
        return __builtin_fma(a, b, c);
    }
    static std::uint64_t exact(std::uint64_t a, std::uint64_t b, std::uint64_t c,
                               Rounding rounding) {
        return arithmetic::fused(a, b, c, binary64, rounding);
    }
};

struct Operands {
    Lanes scratch[3][2];
    const Lanes* a;
    const Lanes* b;
    const Lanes* c;

    OCCUPIPE_INLINE Operands(const Warp& warp, const Step& step, int count) {
        a = real_pair(warp, step, 0, scratch[0]);
        b = real_pair(warp, step, 1, scratch[1]);
        c = count == 3 ? real_pair(warp, step, 2, scratch[2]) : b;
    }
};

template <typename Operation>
struct Nearest {
    template <bool host_fma>
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Operands from(warp, step, Operation::operands);
        alignas(64) double result[lane_count];
        each_lane([&](int lane) __attribute__((always_inline)) {
            result[lane] = Operation::template nearest<host_fma>(as_double(pair(from.a, lane)),
                                                                 as_double(pair(from.b, lane)),
                                                                 as_double(pair(from.c, lane)));
        });
        // Which NaN comes out is not left to the host.
        const Mask nans = mask_where([&](int lane) __attribute__((always_inline)) {
            return result[lane] != result[lane];
        });
        if (nans != 0) [[unlikely]] {
            each_of(nans, [&](int lane) {
                result[lane] = as_double(arithmetic::nan_of(
                    pair(from.a, lane), pair(from.b, lane),
                    Operation::operands == 3 ? pair(from.c, lane) : 0, binary64));
            });
        }
        assign_pair(
            &destination(warp, step),
            active, [&](int lane) __attribute__((always_inline)) { return as_bits(result[lane]); });
    }
};

template <typename Operation>
struct Directed {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Operands from(warp, step, Operation::operands);
        const auto rounding = static_cast<Rounding>(step.option[0]);
        Lanes* const into = &destination(warp, step);
        each_of(active, [&](int lane) {
            const std::uint64_t value = Operation::exact(pair(from.a, lane), pair(from.b, lane),
                                                         pair(from.c, lane), rounding);
            into[0][lane] = static_cast<std::uint32_t>(value);
            into[1][lane] = static_cast<std::uint32_t>(value >> 32);
        });
    }
};

template <typename Operation>
Handler bind_calculation(const Instruction& one, int, Step& step, std::string&) {
    const Rounding rounding = rounding_of(one);
    step.option[0] = static_cast<std::uint8_t>(rounding);
    if (rounding == Rounding::nearest) return fused_handler_of<Nearest<Operation>>();
    return handler_of<Directed<Operation>>();
}

struct Comparison {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Operands from(warp, step, 2);
        const unsigned code = step.option[0];
        const Mask outcome = mask_where([&](int lane) __attribute__((always_inline)) {
            return arithmetic::compared(as_double(pair(from.a, lane)),
                                        as_double(pair(from.b, lane)), code);
        });
        set_compared(warp, step, active, step.option[1], outcome);
    }
};

// DSETP.MIN and .MAX: the first predicate says that the first operand is the lesser, the greater or
// the only number, the second that both are NaNs (the compiler selects by the one and makes the
// result a quiet NaN by the other).
struct Choice {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Operands from(warp, step, 2);
        const bool least = step.option[0] == 0;
        Mask first = 0, neither = 0;
        each_of(active, [&](int lane) {
            const std::uint64_t a = pair(from.a, lane), b = pair(from.b, lane);
            const double x = as_double(a), y = as_double(b);
            const bool lower = x < y || (x == y && std::signbit(x));
            const bool higher = x > y || (x == y && !std::signbit(x));
            const bool chosen = x == x && (y != y || (least ? lower : higher));
            first |= Mask{chosen} << lane;
            neither |= Mask{x != x && y != y} << lane;
        });
        set_predicate(warp, step, 0, active, first & predicate(warp, step, 0));
        set_predicate(warp, step, 1, active, neither & predicate(warp, step, 0));
    }
};

Handler bind_comparison(const Instruction& one, int, Step& step, std::string& why_not) {
    const auto how = combination(one);
    const bool choice = one.has("MIN") || one.has("MAX");
    step.option[0] = static_cast<std::uint8_t>(one.word.bits(76, 4));
    if (!how || (choice && *how != 0)) {
        why_not = "with this combination of predicates";
        return nullptr;
    }
    step.option[1] = *how;
    if (choice) return handler_of<Choice>();
    return handler_of<Comparison>();
}

constexpr Semantics table[] = {
    {"DADD", &bind_calculation<Sum>},
    {"DMUL", &bind_calculation<Product>},
    {"DFMA", &bind_calculation<Fused>},
    {"DSETP", &bind_comparison},
};

}  // namespace

std::span<const Semantics> double_semantics() { return table; }

}  // namespace occupipe::isa
