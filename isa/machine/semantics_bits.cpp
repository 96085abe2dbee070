// SPDX-License-Identifier: MIT
// Bits and bytes: logic of three operands, leading ones, masks, permutations of bytes, differences.
#include <algorithm>
#include <bit>

#include "isa/machine/integers.h"
#include "isa/machine/operands.h"
#include "isa/machine/semantics.h"

namespace occupipe::isa {
namespace {

// ---- logic

template <int table>
OCCUPIPE_INLINE constexpr u32 looked_up(u32 a, u32 b, u32 c) {
    u32 result = 0;
    if constexpr ((table & 1) != 0) result |= ~a & ~b & ~c;
    if constexpr ((table & 2) != 0) result |= ~a & ~b & c;
    if constexpr ((table & 4) != 0) result |= ~a & b & ~c;
    if constexpr ((table & 8) != 0) result |= ~a & b & c;
    if constexpr ((table & 16) != 0) result |= a & ~b & ~c;
    if constexpr ((table & 32) != 0) result |= a & ~b & c;
    if constexpr ((table & 64) != 0) result |= a & b & ~c;
    if constexpr ((table & 128) != 0) result |= a & b & c;
    return result;
}

OCCUPIPE_INLINE u32 looked_up(u32 table, u32 a, u32 b, u32 c) {
    const auto all = [&](int bit) { return (table >> bit & 1) != 0 ? 0xffffffffU : 0U; };
    const u32 without =
        (~a & ((~b & ((~c & all(0)) | (c & all(1)))) | (b & ((~c & all(2)) | (c & all(3))))));
    return without |
           (a & ((~b & ((~c & all(4)) | (c & all(5)))) | (b & ((~c & all(6)) | (c & all(7))))));
}

// P81 = (result != 0) OR p87; with .PAND: AND.
OCCUPIPE_INLINE void set_not_zero(Warp& warp, const Step& step, Mask active, const Lanes& result) {
    const Mask test = mask_where([&](int i) { return result[i] != 0; });
    const Mask other = predicate(warp, step, 0);
    set_predicate(warp, step, 0, active, step.option[1] != 0 ? test & other : test | other);
}

template <int table>
struct Logic {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Lanes& a = *raw(warp, step, 0);
        const Lanes& b = *raw(warp, step, 1);
        const Lanes& c = *raw(warp, step, 2);
        assign(destination(warp, step), written(step, active), [&](int i) {
            if constexpr (table >= 0) return looked_up<table>(a[i], b[i], c[i]);
            return looked_up(u32{step.option[0]}, a[i], b[i], c[i]);
        });
    }
};

struct LogicTest {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Lanes& a = *raw(warp, step, 0);
        const Lanes& b = *raw(warp, step, 1);
        const Lanes& c = *raw(warp, step, 2);
        Lanes result;
        const u32 table = step.option[0];
        each_lane([&](int i) { result[i] = looked_up(table, a[i], b[i], c[i]); });
        assign(destination(warp, step), written(step, active), result);
        set_not_zero(warp, step, active, result);
    }
};

Handler bind_lop3(const Instruction& one, int, Step& step, std::string& why_not) {
    const Operand* const table = last_immediate(one);
    if (!table || step.source_count != 4) {
        why_not = "no table";
        return nullptr;
    }
    step.option[0] = static_cast<std::uint8_t>(table->value);
    step.option[1] = one.has("PAND") ? 1 : 0;
    if (step.predicate_written[0]) return handler_of<LogicTest>();
    switch (table->value) {
        case 0xc0:
            return handler_of<Logic<0xc0>>();
        case 0xfc:
            return handler_of<Logic<0xfc>>();
        case 0x3c:
            return handler_of<Logic<0x3c>>();
        case 0x30:
            return handler_of<Logic<0x30>>();
        case 0x33:
            return handler_of<Logic<0x33>>();
        case 0xf8:
            return handler_of<Logic<0xf8>>();
        case 0xfe:
            return handler_of<Logic<0xfe>>();
        case 0x96:
            return handler_of<Logic<0x96>>();
        case 0x80:
            return handler_of<Logic<0x80>>();
        default:
            return handler_of<Logic<-1>>();
    }
}

struct LogicOfPredicates {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Mask a = predicate(warp, step, 0), b = predicate(warp, step, 1),
                   c = predicate(warp, step, 2);
        set_predicate(warp, step, 0, active, looked_up(u32{step.option[0]}, a, b, c));
        set_predicate(warp, step, 1, active, looked_up(u32{step.option[1]}, a, b, c));
    }
};

// The signs of three registers in place of predicates.
struct LogicOfSigns {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        Mask sign[3];
        for (int i = 0; i < 3; ++i) {
            const Lanes& word = *raw(warp, step, i);
            sign[i] = mask_where([&](int lane) __attribute__((always_inline)) {
                return as_signed(word[lane]) < 0;
            });
        }
        for (int i = 0; i < 2; ++i) {
            const u32 table{step.option[static_cast<std::size_t>(i)]};
            set_predicate(warp, step, i, active, looked_up(table, sign[0], sign[1], sign[2]));
        }
    }
};

Handler bind_plop3(const Instruction& one, int, Step& step, std::string& why_not) {
    std::size_t found = 0;
    for (const Operand& operand : one.operands) {
        if (operand.kind != Operand::Kind::immediate || found == 2) continue;
        step.option[found++] = static_cast<std::uint8_t>(operand.value);
    }
    const bool signs = std::ranges::any_of(
        one.operands, [](const Operand& operand) { return operand.part == ".SIGN"; });
    // Two immediates are sources, too, behind the registers.
    if (found == 2 && signs) return handler_of<LogicOfSigns>();
    if (found == 2) return handler_of<LogicOfPredicates>();
    why_not = "no tables";
    return nullptr;
}

// ---- bits and bytes

constexpr u32 absolute(u32 a) { return as_signed(a) < 0 ? 0 - a : a; }
constexpr u32 count_ones(u32 a) { return static_cast<u32>(std::popcount(a)); }

constexpr u32 reversed(u32 a) {
    a = (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
    a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
    a = (a >> 4 & 0x0f0f0f0f) | (a & 0x0f0f0f0f) << 4;
    a = (a >> 8 & 0x00ff00ff) | (a & 0x00ff00ff) << 8;
    return a >> 16 | a << 16;
}

template <bool is_signed, bool as_shift>
constexpr u32 leading_one(u32 a) {
    if (is_signed && as_signed(a) < 0) a = ~a;
    if (a == 0) return 0xffffffff;
    const auto zeros = static_cast<u32>(std::countl_zero(a));
    return as_shift ? zeros : 31 - zeros;
}

Handler bind_flo(const Instruction& one, int, Step& step, std::string& why_not) {
    if (step.predicate_written[0]) {
        why_not = "with a predicate written";
        return nullptr;
    }
    const bool is_signed = !one.has("U32");
    if (one.has("SH")) {
        return is_signed ? handler_of<Unary<leading_one<true, true>>>()
                         : handler_of<Unary<leading_one<false, true>>>();
    }
    return is_signed ? handler_of<Unary<leading_one<true, false>>>()
                     : handler_of<Unary<leading_one<false, false>>>();
}

template <auto function>
Handler bind_unary(const Instruction&, int, Step&, std::string&) {
    return handler_of<Unary<function>>();
}

// The lowest `width` bits, with their highest one as a sign.
template <bool is_signed, bool wraps>
constexpr u32 sign_extend(u32 a, u32 width) {
    if (wraps) width &= 31;
    if (width >= 32) return a;
    if (width == 0) return 0;
    const u32 up = a << (32 - width);
    return is_signed ? static_cast<u32>(as_signed(up) >> (32 - width)) : up >> (32 - width);
}

Handler bind_sgxt(const Instruction& one, int, Step&, std::string&) {
    if (one.has("U32")) {
        return one.has("W") ? handler_of<Binary<sign_extend<false, true>>>()
                            : handler_of<Binary<sign_extend<false, false>>>();
    }
    return one.has("W") ? handler_of<Binary<sign_extend<true, true>>>()
                        : handler_of<Binary<sign_extend<true, false>>>();
}

// `width` ones from bit `first` on.
template <bool wraps>
constexpr u32 bit_mask(u32 first, u32 width) {
    if (wraps) {
        first &= 31;
        width &= 31;
    }
    if (first >= 32) return 0;
    const u32 ones = width >= 32 ? 0xffffffff : (1U << width) - 1;
    return ones << first;
}

Handler bind_bmsk(const Instruction& one, int, Step&, std::string&) {
    return one.has("W") ? handler_of<Binary<bit_mask<true>>>()
                        : handler_of<Binary<bit_mask<false>>>();
}

// Bytes 0 to 3 are a's, 4 to 7 c's; b selects them by half bytes, whose highest bit asks for the
// byte's sign in all its bits.
constexpr u32 permute(u32 a, u32 b, u32 c) {
    const u64 bytes = u64{a} | u64{c} << 32;
    u32 result = 0;
    for (u32 i = 0; i < 4; ++i) {
        const u32 selector = b >> (4 * i) & 15;
        u32 byte = static_cast<u32>(bytes >> (8 * (selector & 7))) & 0xff;
        if ((selector & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
        result |= byte << (8 * i);
    }
    return result;
}

enum class Permutation { forward_4, backward_4, replicate_8, edge_left, edge_right, replicate_16 };

template <Permutation how>
constexpr u32 permute_mode(u32 a, u32 b, u32 c) {
    const u64 bytes = u64{a} | u64{c} << 32;
    const u32 n = b & 3;
    u32 result = 0;
    for (u32 i = 0; i < 4; ++i) {
        u32 from = 0;
        switch (how) {
            case Permutation::forward_4:
                from = n + i;
                break;
            case Permutation::backward_4:
                from = (n - i) & 7;
                break;
            case Permutation::replicate_8:
                from = n;
                break;
            case Permutation::edge_left:
                from = std::max(n, i);
                break;
            case Permutation::edge_right:
                from = std::min(n, i);
                break;
            case Permutation::replicate_16:
                from = 2 * (n & 1) + (i & 1);
                break;
        }
        result |= (static_cast<u32>(bytes >> (8 * from)) & 0xff) << (8 * i);
    }
    return result;
}

struct PermuteConstant {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Lanes& a = *raw(warp, step, 0);
        const Lanes& c = *raw(warp, step, 2);
        // A byte each: where it comes from, as shifts of both words of which one is masked away.
        const auto selector = static_cast<u32>(step.immediate);
        assign(destination(warp, step), written(step, active), [&](int lane) {
            u32 result = 0;
            for (u32 i = 0; i < 4; ++i) {
                const u32 one = selector >> (4 * i) & 15;
                const u32 word = (one & 4) != 0 ? c[lane] : a[lane];
                u32 byte = word >> (8 * (one & 3)) & 0xff;
                if ((one & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
                result |= byte << (8 * i);
            }
            return result;
        });
    }
};

Handler bind_prmt(const Instruction& one, int, Step& step, std::string&) {
    using enum Permutation;
    if (one.has("F4E")) return handler_of<Ternary<permute_mode<forward_4>>>();
    if (one.has("B4E")) return handler_of<Ternary<permute_mode<backward_4>>>();
    if (one.has("RC8")) return handler_of<Ternary<permute_mode<replicate_8>>>();
    if (one.has("ECL")) return handler_of<Ternary<permute_mode<edge_left>>>();
    if (one.has("ECR")) return handler_of<Ternary<permute_mode<edge_right>>>();
    if (one.has("RC16")) return handler_of<Ternary<permute_mode<replicate_16>>>();
    if (one.operands.size() == 4 && one.operands[2].kind == Operand::Kind::immediate) {
        step.immediate = one.operands[2].value;
        return handler_of<PermuteConstant>();
    }
    return handler_of<Ternary<permute>>();
}

// ---- differences

template <bool is_signed>
constexpr u32 difference(u32 a, u32 b, u32 c) {
    return c + (less<is_signed>(a, b) ? b - a : a - b);
}

Handler bind_vabsdiff(const Instruction& one, int, Step& step, std::string& why_not) {
    if (step.predicate_written[0]) {
        why_not = "with a predicate written";
        return nullptr;
    }
    return one.has("U32") ? handler_of<Ternary<difference<false>>>()
                          : handler_of<Ternary<difference<true>>>();
}

template <bool is_signed>
constexpr u32 difference_of_bytes(u32 a, u32 b, u32 c) {
    for (u32 i = 0; i < 32; i += 8) {
        const u32 x = a >> i & 0xff, y = b >> i & 0xff;
        const u32 turn = is_signed ? 0x80 : 0;
        c += (x ^ turn) < (y ^ turn) ? (y ^ turn) - (x ^ turn) : (x ^ turn) - (y ^ turn);
    }
    return c;
}

template <bool is_signed>
constexpr u32 differences(u32 a, u32 b, u32) {
    u32 result = 0;
    for (u32 i = 0; i < 32; i += 8) {
        const u32 turn = is_signed ? 0x80 : 0;
        const u32 x = (a >> i & 0xff) ^ turn, y = (b >> i & 0xff) ^ turn;
        result |= (x < y ? y - x : x - y) << i;
    }
    return result;
}

Handler bind_vabsdiff4(const Instruction& one, int, Step& step, std::string& why_not) {
    if (step.predicate_written[0]) {
        why_not = "with a predicate written";
        return nullptr;
    }
    // Without .ACC the third operand is what PTX takes bytes of that are not written (vabsdiff4
    // with a mask); all four are.
    if (!one.has("ACC")) {
        return one.has("U8") ? handler_of<Ternary<differences<false>>>()
                             : handler_of<Ternary<differences<true>>>();
    }
    return one.has("U8") ? handler_of<Ternary<difference_of_bytes<false>>>()
                         : handler_of<Ternary<difference_of_bytes<true>>>();
}

template <s32 low, s32 high>
constexpr u32 clamped(u32 a) {
    return static_cast<u32>(std::clamp(as_signed(a), low, high));
}

Handler bind_i2i(const Instruction& one, int, Step&, std::string& why_not) {
    if (one.has("U8")) return handler_of<Unary<clamped<0, 255>>>();
    if (one.has("S8")) return handler_of<Unary<clamped<-128, 127>>>();
    if (one.has("U16")) return handler_of<Unary<clamped<0, 65535>>>();
    if (one.has("S16")) return handler_of<Unary<clamped<-32768, 32767>>>();
    why_not = "of this type";
    return nullptr;
}

// I2IP: both numbers saturated, the first above the second; what of c has room stands above both
// (PTX: cvt.pack).
template <int bits, bool is_signed>
constexpr u32 saturated_pair(u32 a, u32 b, u32 c) {
    constexpr s32 low = is_signed ? -(1 << (bits - 1)) : 0;
    constexpr s32 high = is_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
    constexpr u32 kept = (u32{1} << bits) - 1;
    const u32 packed = (clamped<low, high>(a) & kept) << bits | (clamped<low, high>(b) & kept);
    return static_cast<u32>(u64{c} << (2 * bits)) | packed;
}

Handler bind_i2ip(const Instruction& one, int, Step&, std::string& why_not) {
    if (!one.has("SAT")) {
        why_not = "without .SAT";
        return nullptr;
    }
    if (one.has("U2")) return handler_of<Ternary<saturated_pair<2, false>>>();
    if (one.has("S2")) return handler_of<Ternary<saturated_pair<2, true>>>();
    if (one.has("U4")) return handler_of<Ternary<saturated_pair<4, false>>>();
    if (one.has("S4")) return handler_of<Ternary<saturated_pair<4, true>>>();
    if (one.has("U8")) return handler_of<Ternary<saturated_pair<8, false>>>();
    if (one.has("S8")) return handler_of<Ternary<saturated_pair<8, true>>>();
    if (one.has("U16")) return handler_of<Ternary<saturated_pair<16, false>>>();
    if (one.has("S16")) return handler_of<Ternary<saturated_pair<16, true>>>();
    why_not = "of this type";
    return nullptr;
}

constexpr Semantics table[] = {
    {"LOP3", &bind_lop3},
    {"ULOP3", &bind_lop3},
    {"PLOP3", &bind_plop3},
    {"UPLOP3", &bind_plop3},
    {"IABS", &bind_unary<absolute>},
    {"POPC", &bind_unary<count_ones>},
    {"UPOPC", &bind_unary<count_ones>},
    {"BREV", &bind_unary<reversed>},
    {"UBREV", &bind_unary<reversed>},
    {"FLO", &bind_flo},
    {"UFLO", &bind_flo},
    {"SGXT", &bind_sgxt},
    {"USGXT", &bind_sgxt},
    {"BMSK", &bind_bmsk},
    {"UBMSK", &bind_bmsk},
    {"PRMT", &bind_prmt},
    {"UPRMT", &bind_prmt},
    {"VABSDIFF", &bind_vabsdiff},
    {"VABSDIFF4", &bind_vabsdiff4},
    {"I2I", &bind_i2i},
    {"I2IP", &bind_i2ip},
};

}  // namespace

std::span<const Semantics> bit_semantics() { return table; }

}  // namespace occupipe::isa
