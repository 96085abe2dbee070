// SPDX-License-Identifier: MIT
// Integers of 32 and 64 bits: sums, products, shifts, logic, comparison. Handlers serve the uniform
// datapath, too: its registers hold the same word in every lane.
#include <algorithm>
#include <bit>

#include "isa/machine/integers.h"
#include "isa/machine/operands.h"
#include "isa/machine/semantics.h"

namespace occupipe::isa {
namespace {

// What a source adds to a sum whose carry is looked at: -R is ~R + 1, so that the carry of a
// difference says that nothing was borrowed.
struct Addend {
    u32 turn = 0;
    u64 more = 0;

    explicit Addend(const Source& source)
        : turn(source.negated || source.inverted ? 0xffffffff : 0), more(source.negated ? 1 : 0) {}
};

// ---- sums

struct Add3 {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        Lanes sa, sb, sc;
        const Lanes& a = integer(warp, step, 0, sa);
        const Lanes& b = integer(warp, step, 1, sb);
        const Lanes& c = integer(warp, step, 2, sc);
        assign(destination(warp, step), written(step, active),
               [&](int i) { return a[i] + b[i] + c[i]; });
    }
};

// With carries in (two, of up to two sums before) or out.
struct Add3Carry {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Lanes& a = *raw(warp, step, 0);
        const Lanes& b = *raw(warp, step, 1);
        const Lanes& c = *raw(warp, step, 2);
        const Addend fa(step.source[0]), fb(step.source[1]), fc(step.source[2]);
        const u64 more = fa.more + fb.more + fc.more;
        const bool extended_sum = step.option[0] != 0;
        const Mask in_0 = extended_sum ? predicate(warp, step, 0) : 0;
        const Mask in_1 = extended_sum ? predicate(warp, step, 1) : 0;
        Lanes sum, carries;
        each_lane([&](int i) {
            const u64 all = u64{a[i] ^ fa.turn} + (b[i] ^ fb.turn) + (c[i] ^ fc.turn) + more +
                            ((in_0 & lane_bits[i]) != 0 ? 1 : 0) +
                            ((in_1 & lane_bits[i]) != 0 ? 1 : 0);
            sum[i] = static_cast<u32>(all);
            carries[i] = static_cast<u32>(all >> 32);
        });
        assign(destination(warp, step), written(step, active), sum);
        if (step.predicate_written[0]) {
            set_predicate(warp, step, 0, active,
                          mask_where([&](int i) { return carries[i] != 0; }));
        }
        if (step.predicate_written[1]) {
            set_predicate(warp, step, 1, active,
                          mask_where([&](int i) { return as_signed(carries[i]) > 1; }));
        }
    }
};

Handler bind_add3(const Instruction& one, int, Step& step, std::string& why_not) {
    if (one.has("64")) {
        if (step.predicate_written[0] || step.predicate_written[1]) {
            why_not = "with a carry of 64 bits";
            return nullptr;
        }
        struct Add64 {
            OCCUPIPE_INLINE static void run(Warp& warp, const Step& s, Mask active) {
                Lanes sa[2], sb[2], sc[2];
                const Lanes* const a = integer_pair(warp, s, 0, sa);
                const Lanes* const b = integer_pair(warp, s, 1, sb);
                const Lanes* const c = integer_pair(warp, s, 2, sc);
                assign_pair(&destination(warp, s), written(s, active),
                            [&](int i) { return pair(a, i) + pair(b, i) + pair(c, i); });
            }
        };
        return handler_of<Add64>();
    }
    step.option[0] = one.has("X") ? 1 : 0;
    const bool carries = one.has("X") || step.predicate_written[0] || step.predicate_written[1];
    return carries ? handler_of<Add3Carry>() : handler_of<Add3>();
}

// ---- two sources

constexpr u32 add(u32 a, u32 b) { return a + b; }

struct Add64Pair {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        Lanes sa[2], sb[2];
        const Lanes* const a = integer_pair(warp, step, 0, sa);
        const Lanes* const b = integer_pair(warp, step, 1, sb);
        assign_pair(&destination(warp, step), written(step, active),
                    [&](int i) { return pair(a, i) + pair(b, i); });
    }
};

// Links of a chain of 64-bit sums; option 0: .X, a carry comes in (and minus is inversion).
struct Add64Carry {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Lanes* const a = raw(warp, step, 0);
        const Lanes* const b = raw(warp, step, 1);
        const auto turn = [](const Source& source) {
            return source.negated || source.inverted ? ~u64{0} : u64{0};
        };
        const u64 turn_a = turn(step.source[0]), turn_b = turn(step.source[1]);
        const u64 more = u64{step.source[0].negated} + u64{step.source[1].negated};
        const Mask in = step.option[0] != 0 ? predicate(warp, step, 0) : 0;
        Lanes low, high, carries;
        each_lane([&](int i) {
            const u64 x = pair(a, i) ^ turn_a;
            const u64 sum = x + (pair(b, i) ^ turn_b);
            const u64 all = sum + more + ((in & lane_bits[i]) != 0 ? 1 : 0);
            low[i] = static_cast<u32>(all);
            high[i] = static_cast<u32>(all >> 32);
            carries[i] = sum < x || all < sum ? 1 : 0;
        });
        Lanes* const into = &destination(warp, step);
        assign(into[0], active, low);
        assign(into[1], active, high);
        set_predicate(warp, step, 0, active, mask_where([&](int i) { return carries[i] != 0; }));
    }
};

Handler bind_add(const Instruction& one, int, Step& step, std::string& why_not) {
    if (one.has("X") && !one.has("64")) {
        why_not = "with .X";
        return nullptr;
    }
    step.option[0] = one.has("X") ? 1 : 0;
    if (one.has("X") || step.predicate_written[0]) return handler_of<Add64Carry>();
    return one.has("64") ? handler_of<Add64Pair>() : handler_of<Binary<add>>();
}

// Two halves, each for itself.
template <typename Function>
constexpr u32 by_halves(u32 a, u32 b, Function function) {
    const u32 low = function(a & 0xffff, b & 0xffff) & 0xffff;
    return low | (function(a >> 16, b >> 16) & 0xffff) << 16;
}

constexpr u32 add_16x2(u32 a, u32 b) {
    return by_halves(a, b, [](u32 x, u32 y) { return x + y; });
}

constexpr u32 negated_16x2(u32 a) {
    return by_halves(a, 0, [](u32 x, u32) { return 0 - x; });
}

struct AddHalves {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Lanes& a = *raw(warp, step, 0);
        const Lanes& b = *raw(warp, step, 1);
        const bool turn_a = step.source[0].negated, turn_b = step.source[1].negated;
        assign(destination(warp, step), written(step, active), [&](int i) {
            return add_16x2(turn_a ? negated_16x2(a[i]) : a[i], turn_b ? negated_16x2(b[i]) : b[i]);
        });
    }
};

struct AddBytes {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Lanes& a = *raw(warp, step, 0);
        const Lanes& b = *raw(warp, step, 1);
        const u32 sign_a = step.source[0].negated ? 0xffffffff : 1;
        const u32 sign_b = step.source[1].negated ? 0xffffffff : 1;
        assign(destination(warp, step), written(step, active), [&](int lane) {
            u32 result = 0;
            for (u32 i = 0; i < 32; i += 8) {
                result |= ((sign_a * (a[lane] >> i) + sign_b * (b[lane] >> i)) & 0xff) << i;
            }
            return result;
        });
    }
};

struct AddSaturated {  // signed, 32 bits
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Lanes& a = *raw(warp, step, 0);
        const Lanes& b = *raw(warp, step, 1);
        const std::int64_t sign_a = step.source[0].negated ? -1 : 1;
        const std::int64_t sign_b = step.source[1].negated ? -1 : 1;
        assign(destination(warp, step), written(step, active), [&](int lane) {
            const std::int64_t sum = sign_a * as_signed(a[lane]) + sign_b * as_signed(b[lane]);
            constexpr std::int64_t most = 0x7fffffff;
            return static_cast<u32>(sum > most ? most : sum < -most - 1 ? -most - 1 : sum);
        });
    }
};

Handler bind_viadd(const Instruction& one, int, Step&, std::string&) {
    if (one.has("ISAT")) return handler_of<AddSaturated>();
    const bool halves = one.has("16x2") || one.has("U16x2") || one.has("S16x2");
    if (one.has("U8x4") || one.has("S8x4")) return handler_of<AddBytes>();
    return halves ? handler_of<AddHalves>() : handler_of<Binary<add>>();
}

// ---- shifted sums

// (a << n) + b, or with .HI the upper word of {c, a} << n, plus b; carries as in IADD3.
template <bool high>
struct ShiftedAdd {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Lanes& a = *raw(warp, step, 0);
        const Lanes& b = *raw(warp, step, 1);
        const Lanes& upper = *raw(warp, step, high && step.option[2] == 0 ? 2 : 0);
        const u32 count = step.option[1];
        const bool from_sign = step.option[2] != 0;
        const Addend fa(step.source[0]), fb(step.source[1]);
        const Mask in = step.option[0] != 0 ? predicate(warp, step, 0) : 0;
        Lanes sum, carries;
        each_lane([&](int i) {
            u32 shifted = a[i] << count;
            if (high) {
                const u64 whole = from_sign ? extended(a[i]) : u64{a[i]} | u64{upper[i]} << 32;
                shifted = static_cast<u32>((whole << count) >> 32);
            }
            const u64 all = u64{shifted ^ fa.turn} + (b[i] ^ fb.turn) + fa.more + fb.more +
                            ((in & lane_bits[i]) != 0 ? 1 : 0);
            sum[i] = static_cast<u32>(all);
            carries[i] = static_cast<u32>(all >> 32);
        });
        assign(destination(warp, step), written(step, active), sum);
        if (step.predicate_written[0]) {
            set_predicate(warp, step, 0, active,
                          mask_where([&](int i) { return carries[i] != 0; }));
        }
    }
};

struct ShiftedAddPlain {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Lanes& a = *raw(warp, step, 0);
        Lanes sb;
        const Lanes& b = integer(warp, step, 1, sb);
        const u32 count = step.option[1];
        assign(destination(warp, step), written(step, active),
               [&](int i) { return (a[i] << count) + b[i]; });
    }
};

Handler bind_lea(const Instruction& one, int, Step& step, std::string& why_not) {
    const Operand* const count = last_immediate(one);
    if (!count) {
        why_not = "no count of bits";
        return nullptr;
    }
    const bool changed = step.source[0].negated || step.source[0].inverted;
    step.option[0] = one.has("X") ? 1 : 0;
    step.option[1] = static_cast<std::uint8_t>(count->value);
    step.option[2] = one.has("SX32") ? 1 : 0;
    if (changed && one.has("HI")) {
        why_not = "with .HI and a changed first operand";
        return nullptr;
    }
    if (one.has("HI")) return handler_of<ShiftedAdd<true>>();
    if (changed || one.has("X") || step.predicate_written[0])
        return handler_of<ShiftedAdd<false>>();
    return handler_of<ShiftedAddPlain>();
}

// ---- products

struct MultiplyAdd {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        Lanes sc;
        const Lanes& a = *raw(warp, step, 0);
        const Lanes& b = *raw(warp, step, 1);
        const Lanes& c = integer(warp, step, 2, sc);
        assign(destination(warp, step), written(step, active),
               [&](int i) { return a[i] * b[i] + c[i]; });
    }
};

struct MultiplyMove {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        Lanes sc;
        assign(destination(warp, step), written(step, active), integer(warp, step, 2, sc));
    }
};

struct MultiplyIsAdd {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        Lanes sc;
        const Lanes& a = *raw(warp, step, 0);
        const Lanes& c = integer(warp, step, 2, sc);
        assign(destination(warp, step), written(step, active), [&](int i) { return a[i] + c[i]; });
    }
};

struct MultiplyIsShift {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Lanes& a = *raw(warp, step, 0);
        const u32 count = step.option[0];
        assign(destination(warp, step), written(step, active),
               [&](int i) { return a[i] << count; });
    }
};

struct MultiplyAddCarry {  // IMAD.X
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        Lanes sc;
        const Lanes& a = *raw(warp, step, 0);
        const Lanes& b = *raw(warp, step, 1);
        const Lanes& c = integer(warp, step, 2, sc);
        const Mask in = predicate(warp, step, 0);
        assign(destination(warp, step), written(step, active),
               [&](int i) { return a[i] * b[i] + c[i] + ((in & lane_bits[i]) != 0 ? 1U : 0U); });
    }
};

template <bool is_signed>
OCCUPIPE_INLINE u64 product(u32 a, u32 b) {
    if constexpr (is_signed) {
        return static_cast<u64>(s64{as_signed(a)} * as_signed(b));
    } else {
        return u64{a} * b;
    }
}

template <bool is_signed>
struct MultiplyWide {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        Lanes sc[2];
        const Lanes& a = *raw(warp, step, 0);
        const Lanes& b = *raw(warp, step, 1);
        const Lanes* const c = integer_pair(warp, step, 2, sc);
        assign_pair(&destination(warp, step), written(step, active),
                    [&](int i) { return product<is_signed>(a[i], b[i]) + pair(c, i); });
    }
};

// With a carry in or out of the 64-bit sum.
template <bool is_signed>
struct MultiplyWideCarry {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        Lanes sc[2];
        const Lanes& a = *raw(warp, step, 0);
        const Lanes& b = *raw(warp, step, 1);
        const Lanes* const c = integer_pair(warp, step, 2, sc);
        const Mask in = step.option[0] != 0 ? predicate(warp, step, 0) : 0;
        Mask out = 0;
        Lanes low, high;
        for (int i = 0; i < lane_count; ++i) {
            const u64 first = product<is_signed>(a[i], b[i]);
            const u64 second = first + pair(c, i);
            const u64 third = second + (has_lane(in, i) ? 1 : 0);
            if (second < first || third < second) out |= Mask{1} << i;
            low[i] = static_cast<u32>(third);
            high[i] = static_cast<u32>(third >> 32);
        }
        const Mask mask = written(step, active);
        assign((&destination(warp, step))[0], mask, low);
        assign((&destination(warp, step))[1], mask, high);
        set_predicate(warp, step, 0, active, out);
    }
};

template <bool is_signed>
struct MultiplyHigh {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        Lanes sc[2];
        const Lanes& a = *raw(warp, step, 0);
        const Lanes& b = *raw(warp, step, 1);
        const Lanes* const c = integer_pair(warp, step, 2, sc);
        assign(destination(warp, step), written(step, active), [&](int i) {
            return static_cast<u32>((product<is_signed>(a[i], b[i]) + pair(c, i)) >> 32);
        });
    }
};

// The carry of the 64-bit sum, too.
struct MultiplyHighCarry {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Lanes& a = *raw(warp, step, 0);
        const Lanes& b = *raw(warp, step, 1);
        const Lanes* const c = raw(warp, step, 2);
        Lanes high;
        Mask out = 0;
        for (int i = 0; i < lane_count; ++i) {
            const u64 first = u64{a[i]} * b[i];
            const u64 sum = first + pair(c, i);
            if (sum < first) out |= Mask{1} << i;
            high[i] = static_cast<u32>(sum >> 32);
        }
        assign(destination(warp, step), written(step, active), high);
        set_predicate(warp, step, 0, active, out);
    }
};

Handler bind_imad(const Instruction& one, int, Step& step, std::string& why_not) {
    const bool is_signed = !one.has("U32");
    step.option[0] = one.has("X") ? 1 : 0;
    const Operand& sum = one.operands.back();
    if ((one.has("WIDE") || one.has("HI")) && sum.kind == Operand::Kind::immediate &&
        sum.value < 0) {
        why_not = "with a third operand whose upper word is not known";
        return nullptr;
    }
    if (one.has("WIDE")) {
        if (one.has("X") || step.predicate_written[0]) {
            if (step.predicate_written[0] && (is_signed || step.source[2].negated)) {
                why_not = "with the carry of a signed or negated sum";
                return nullptr;
            }
            return is_signed ? handler_of<MultiplyWideCarry<true>>()
                             : handler_of<MultiplyWideCarry<false>>();
        }
        return is_signed ? handler_of<MultiplyWide<true>>() : handler_of<MultiplyWide<false>>();
    }
    if (one.has("HI")) {
        const bool plain = !step.source[2].negated && !step.source[2].inverted && !is_signed;
        if (one.has("X") || (step.predicate_written[0] && !plain)) {
            why_not = "with .HI and a carry";
            return nullptr;
        }
        if (step.predicate_written[0]) return handler_of<MultiplyHighCarry>();
        return is_signed ? handler_of<MultiplyHigh<true>>() : handler_of<MultiplyHigh<false>>();
    }
    if (one.has("X")) return handler_of<MultiplyAddCarry>();
    if (one.has("MOV")) return handler_of<MultiplyMove>();
    if (one.has("IADD")) return handler_of<MultiplyIsAdd>();
    if (one.has("SHL")) {
        const Operand* const factor = last_immediate(one);
        if (factor) {
            step.option[0] =
                static_cast<std::uint8_t>(std::countr_zero(static_cast<u32>(factor->value)));
            return handler_of<MultiplyIsShift>();
        }
    }
    return handler_of<MultiplyAdd>();
}

// Sums of products of bytes: option 0, 1: a, b signed; 2: how b's bytes are chosen.
template <int parts>
struct DotProduct {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        Lanes sc;
        const Lanes& a = *raw(warp, step, 0);
        const Lanes& b = *raw(warp, step, 1);
        const Lanes& c = integer(warp, step, 2, sc);
        const bool signed_a = step.option[0] != 0, signed_b = step.option[1] != 0;
        const int first_b = step.option[2];
        assign(destination(warp, step), written(step, active), [&](int lane) {
            u32 sum = c[lane];
            for (int i = 0; i < parts; ++i) {
                constexpr int bits = 32 / parts;
                constexpr u32 mask = bits == 8 ? 0xff : 0xffff;
                const u32 x = a[lane] >> (bits * i) & mask;
                const u32 y = b[lane] >> (8 * (i + first_b)) & 0xff;
                const u32 wide_x =
                    signed_a ? static_cast<u32>(as_signed(x << (32 - bits)) >> (32 - bits)) : x;
                const u32 wide_y = signed_b ? static_cast<u32>(as_signed(y << 24) >> 24) : y;
                sum += wide_x * wide_y;
            }
            return sum;
        });
    }
};

Handler bind_idp(const Instruction& one, int, Step& step, std::string&) {
    // The last two modifiers are the types of a and b.
    const std::size_t count = one.modifiers.size();
    step.option[0] = count >= 2 && one.modifiers[count - 2].starts_with('S') ? 1 : 0;
    step.option[1] = count >= 1 && one.modifiers[count - 1].starts_with('S') ? 1 : 0;
    step.option[2] = one.has("HI") ? 2 : 0;
    return one.has("4A") ? handler_of<DotProduct<4>>() : handler_of<DotProduct<2>>();
}

// ---- comparisons

enum class Compare : std::uint8_t {
    never,
    less,
    equal,
    less_equal,
    greater,
    not_equal,
    greater_equal,
    always,
};

template <Compare how, typename T>
OCCUPIPE_INLINE constexpr bool holds(T a, T b) {
    switch (how) {
        case Compare::never:
            return false;
        case Compare::less:
            return a < b;
        case Compare::equal:
            return a == b;
        case Compare::less_equal:
            return a <= b;
        case Compare::greater:
            return a > b;
        case Compare::not_equal:
            return a != b;
        case Compare::greater_equal:
            return a >= b;
        case Compare::always:
            return true;
    }
    return false;
}

// P81 = test OP p87, P84 = !test OP p87; option 0: OP.
OCCUPIPE_INLINE void set_both(Warp& warp, const Step& step, Mask active, Mask test) {
    const Mask other = predicate(warp, step, 0);
    set_predicate(warp, step, 0, active, combined(step.option[0], test, other));
    if (step.predicate_written[1]) {
        set_predicate(warp, step, 1, active, combined(step.option[0], ~test, other));
    }
}

template <Compare how, bool is_signed>
struct SetPredicate {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Lanes& a = *raw(warp, step, 0);
        const Lanes& b = *raw(warp, step, 1);
        const Mask test = mask_where([&](int i) {
            if constexpr (is_signed) return holds<how>(as_signed(a[i]), as_signed(b[i]));
            return holds<how>(a[i], b[i]);
        });
        set_both(warp, step, active, test);
    }
};

// The upper words of a comparison of 64 bits: where they are equal, what the lower ones said.
template <Compare how, bool is_signed>
struct SetPredicateExtended {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Lanes& a = *raw(warp, step, 0);
        const Lanes& b = *raw(warp, step, 1);
        const Mask equal = mask_where([&](int i) { return a[i] == b[i]; });
        const Mask test = mask_where([&](int i) {
            if constexpr (is_signed) return holds<how>(as_signed(a[i]), as_signed(b[i]));
            return holds<how>(a[i], b[i]);
        });
        Mask result = (equal & predicate(warp, step, 2)) | (~equal & test);
        if (how == Compare::never) result = 0;
        if (how == Compare::always) result = all_lanes;
        set_both(warp, step, active, result);
    }
};

template <Compare how, bool is_signed>
struct SetPredicate64 {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Lanes* const a = raw(warp, step, 0);
        const Lanes* const b = raw(warp, step, 1);
        const Mask test = mask_where([&](int i) {
            if constexpr (is_signed)
                return holds<how>(as_signed(pair(a, i)), as_signed(pair(b, i)));
            return holds<how>(pair(a, i), pair(b, i));
        });
        set_both(warp, step, active, test);
    }
};

template <template <Compare, bool> typename Op>
Handler comparison(Compare how, bool is_signed) {
#define OCCUPIPE_CASE(name)                                      \
    case Compare::name:                                          \
        return is_signed ? handler_of<Op<Compare::name, true>>() \
                         : handler_of<Op<Compare::name, false>>();
    switch (how) {
        OCCUPIPE_CASE(never)
        OCCUPIPE_CASE(less)
        OCCUPIPE_CASE(equal)
        OCCUPIPE_CASE(less_equal)
        OCCUPIPE_CASE(greater)
        OCCUPIPE_CASE(not_equal)
        OCCUPIPE_CASE(greater_equal)
        OCCUPIPE_CASE(always)
    }
#undef OCCUPIPE_CASE
    return nullptr;
}

Handler bind_isetp(const Instruction& one, int, Step& step, std::string& why_not) {
    constexpr std::string_view names[] = {"F", "LT", "EQ", "LE", "GT", "NE", "GE", "T"};
    const auto found = std::ranges::find_first_of(one.modifiers, names);
    const auto combine = combination(one);
    if (found == one.modifiers.end() || !combine) {
        why_not = "this comparison";
        return nullptr;
    }
    const auto how = static_cast<Compare>(std::ranges::find(names, *found) - std::begin(names));
    step.option[0] = *combine;
    if (one.has("EX")) return comparison<SetPredicateExtended>(how, !one.has("U32"));
    if (one.has("U64") || one.has("S64")) return comparison<SetPredicate64>(how, one.has("S64"));
    return comparison<SetPredicate>(how, !one.has("U32"));
}

// ---- the smaller, the larger

template <bool is_signed>
OCCUPIPE_INLINE constexpr u32 chosen(u32 a, u32 b, bool smaller) {
    return less<is_signed>(a, b) == smaller ? a : b;
}

template <bool is_signed>
constexpr u32 chosen_16x2(u32 a, u32 b, bool smaller) {
    return by_halves(a, b, [&](u32 x, u32 y) {
        const u32 turn = is_signed ? 0x8000 : 0;
        return ((x ^ turn) < (y ^ turn)) == smaller ? x : y;
    });
}

// p87 holds: the smaller. option 0: .RELU, option 1: packed halves.
template <bool is_signed, bool halves>
OCCUPIPE_INLINE u32 choose(u32 a, u32 b, bool smaller) {
    return halves ? chosen_16x2<is_signed>(a, b, smaller) : chosen<is_signed>(a, b, smaller);
}

template <bool is_signed, bool halves>
OCCUPIPE_INLINE u32 rectified(u32 value, bool relu) {
    return relu ? choose<is_signed, halves>(value, 0, false) : value;
}

template <bool is_signed, bool halves>
struct MinMax {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        Lanes sa, sb;
        const Lanes& a = integer(warp, step, 0, sa);
        const Lanes& b = integer(warp, step, 1, sb);
        const Mask smaller = predicate(warp, step, 0);
        const bool relu = step.option[0] != 0;
        assign(destination(warp, step), written(step, active), [&](int i) {
            return rectified<is_signed, halves>(
                choose<is_signed, halves>(a[i], b[i], (smaller & lane_bits[i]) != 0), relu);
        });
    }
};

template <bool is_signed, bool halves>
struct MinMax3 {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Lanes& a = *raw(warp, step, 0);
        const Lanes& b = *raw(warp, step, 1);
        const Lanes& c = *raw(warp, step, 2);
        const Mask mask = predicate(warp, step, 0);
        const bool relu = step.option[0] != 0;
        assign(destination(warp, step), written(step, active), [&](int i) {
            const bool smaller = (mask & lane_bits[i]) != 0;
            const u32 two = choose<is_signed, halves>(a[i], b[i], smaller);
            return rectified<is_signed, halves>(choose<is_signed, halves>(two, c[i], smaller),
                                                relu);
        });
    }
};

template <bool is_signed, bool halves>
struct AddMinMax {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        Lanes sb;
        const Lanes& a = *raw(warp, step, 0);
        const Lanes& b = integer(warp, step, 1, sb);
        const Lanes& c = *raw(warp, step, 2);
        const Mask mask = predicate(warp, step, 0);
        const bool relu = step.option[0] != 0;
        assign(destination(warp, step), written(step, active), [&](int i) {
            const u32 sum = halves ? add_16x2(a[i], b[i]) : a[i] + b[i];
            const bool smaller = (mask & lane_bits[i]) != 0;
            return rectified<is_signed, halves>(choose<is_signed, halves>(sum, c[i], smaller),
                                                relu);
        });
    }
};

// Four bytes, each for itself.
template <bool is_signed>
struct MinMaxBytes {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Lanes& a = *raw(warp, step, 0);
        const Lanes& b = *raw(warp, step, 1);
        const Mask mask = predicate(warp, step, 0);
        assign(destination(warp, step), written(step, active), [&](int lane) {
            const bool smaller = (mask & lane_bits[lane]) != 0;
            constexpr u32 turn = is_signed ? 0x80 : 0;
            u32 result = 0;
            for (u32 i = 0; i < 32; i += 8) {
                const u32 x = a[lane] >> i & 0xff, y = b[lane] >> i & 0xff;
                result |= (((x ^ turn) < (y ^ turn)) == smaller ? x : y) << i;
            }
            return result;
        });
    }
};

template <bool is_signed>
struct MinMax64 {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Lanes* const a = raw(warp, step, 0);
        const Lanes* const b = raw(warp, step, 1);
        const Mask mask = predicate(warp, step, 0);
        assign_pair(&destination(warp, step), written(step, active), [&](int i) {
            const u64 turn = is_signed ? u64{1} << 63 : 0;
            const bool smaller = (mask & lane_bits[i]) != 0;
            const u64 x = pair(a, i), y = pair(b, i);
            return ((x ^ turn) < (y ^ turn)) == smaller ? x : y;
        });
    }
};

Handler bind_other_choice(const Instruction& one, Step& step, std::string& why_not) {
    const bool other_predicate =
        step.predicate_in[1].index != predicate_index::always || !step.predicate_in[1].inverted;
    if (one.has("RELU") || step.source[0].negated || step.source[1].negated ||
        (one.has("U64") && other_predicate) || (one.has("S64") && other_predicate)) {
        why_not = "in this form";
        return nullptr;
    }
    if (one.has("U64")) return handler_of<MinMax64<false>>();
    if (one.has("S64")) return handler_of<MinMax64<true>>();
    return one.has("U8x4") ? handler_of<MinMaxBytes<false>>() : handler_of<MinMaxBytes<true>>();
}

template <template <bool, bool> typename Op>
Handler bind_choice(const Instruction& one, int, Step& step, std::string& why_not) {
    if (step.predicate_written[0] || step.predicate_written[1]) {
        why_not = "with predicates written";
        return nullptr;
    }
    if (one.has("U8x4") || one.has("S8x4") || one.has("U64") || one.has("S64")) {
        return bind_other_choice(one, step, why_not);
    }
    const bool halves = one.has("U16x2") || one.has("S16x2");
    if (halves && (step.source[0].negated || step.source[1].negated)) {
        why_not = "on negated halves";
        return nullptr;
    }
    const bool is_signed = !one.has("U32") && !one.has("U16x2");
    step.option[0] = one.has("RELU") ? 1 : 0;
    if (halves) return is_signed ? handler_of<Op<true, true>>() : handler_of<Op<false, true>>();
    return is_signed ? handler_of<Op<true, false>>() : handler_of<Op<false, false>>();
}

// ---- shifts

// {c, a} shifted as 64 bits; one word of it is the result.
template <bool right, bool is_signed, bool high>
struct Shift {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Lanes& a = *raw(warp, step, 0);
        const Lanes& b = *raw(warp, step, 1);
        const Lanes& c = *raw(warp, step, 2);
        const bool wraps = step.option[0] != 0;
        const u32 bits = step.option[1];
        assign(destination(warp, step), written(step, active), [&](int i) {
            const u32 count = wraps ? b[i] & (bits - 1) : std::min(b[i], bits);
            const u64 value = u64{a[i]} | u64{c[i]} << 32;
            u64 shifted = 0;
            if (right && is_signed) {
                shifted = static_cast<u64>(as_signed(value) >> std::min(count, 63U));
            } else if (count < 64) {
                shifted = right ? value >> count : value << count;
            }
            return static_cast<u32>(high ? shifted >> 32 : shifted);
        });
    }
};

// By a number that is known before the launch, of one word: the usual case.
template <bool right, bool is_signed>
struct ShiftWord {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Lanes& a = *raw(warp, step, right ? 2 : 0);
        const u32 count = step.option[2];
        assign(destination(warp, step), written(step, active), [&](int i) {
            if (right && is_signed) return static_cast<u32>(as_signed(a[i]) >> count);
            return right ? a[i] >> count : a[i] << count;
        });
    }
};

// By 1 to 31, out of one word into the other: rotations, and shifts of 64 bits.
template <bool right>
struct ShiftAcross {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Lanes& a = *raw(warp, step, 0);
        const Lanes& c = *raw(warp, step, 2);
        const u32 count = step.option[2];
        const u32 rest = 32 - count;
        assign(destination(warp, step), written(step, active), [&](int i) {
            return right ? a[i] >> count | c[i] << rest : c[i] << count | a[i] >> rest;
        });
    }
};

Handler bind_shf(const Instruction& one, int, Step& step, std::string&) {
    const bool right = one.has("R"), high = one.has("HI");
    const bool is_signed = one.has("S64") || one.has("S32");
    const bool wide = one.has("S64") || one.has("U64");
    step.option[0] = one.has("W") ? 1 : 0;
    step.option[1] = wide ? 64 : 32;
    if (one.operands.size() > 2 && one.operands[2].kind == Operand::Kind::immediate) {
        const auto asked = static_cast<u64>(one.operands[2].value);
        const u64 count = one.has("W") ? asked & (wide ? 63 : 31) : asked;
        step.option[2] = static_cast<std::uint8_t>(count);
        if (count > 0 && count < 32 && right != high) {
            return right ? handler_of<ShiftAcross<true>>() : handler_of<ShiftAcross<false>>();
        }
        if (count < 32 && right == high) {
            if (!right) return handler_of<ShiftWord<false, false>>();
            return is_signed ? handler_of<ShiftWord<true, true>>()
                             : handler_of<ShiftWord<true, false>>();
        }
    }
    if (right) {
        if (is_signed) {
            return high ? handler_of<Shift<true, true, true>>()
                        : handler_of<Shift<true, true, false>>();
        }
        return high ? handler_of<Shift<true, false, true>>()
                    : handler_of<Shift<true, false, false>>();
    }
    return high ? handler_of<Shift<false, false, true>>()
                : handler_of<Shift<false, false, false>>();
}

constexpr Semantics table[] = {
    {"IADD3", &bind_add3},
    {"UIADD3", &bind_add3},
    {"IADD", &bind_add},
    {"VIADD", &bind_viadd},
    {"LEA", &bind_lea},
    {"ULEA", &bind_lea},
    {"IMAD", &bind_imad},
    {"UIMAD", &bind_imad},
    {"IDP", &bind_idp},
    {"ISETP", &bind_isetp},
    {"UISETP", &bind_isetp},
    {"IMNMX", &bind_choice<MinMax>},
    {"VIMNMX", &bind_choice<MinMax>},
    {"UVIMNMX", &bind_choice<MinMax>},
    {"VIMNMX3", &bind_choice<MinMax3>},
    {"VIADDMNMX", &bind_choice<AddMinMax>},
    {"SHF", &bind_shf},
    {"USHF", &bind_shf},
};

}  // namespace

std::span<const Semantics> integer_semantics() { return table; }

}  // namespace occupipe::isa
