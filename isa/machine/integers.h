// SPDX-License-Identifier: MIT
// Handlers of instructions that are a function of their lanes' integers.
#pragma once

#include <cstdint>

#include "isa/machine/warp.h"

namespace occupipe::isa {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

constexpr s32 as_signed(u32 value) { return static_cast<s32>(value); }
constexpr s64 as_signed(u64 value) { return static_cast<s64>(value); }
constexpr u64 extended(u32 value) { return static_cast<u64>(static_cast<s64>(as_signed(value))); }

template <auto function>
struct Binary {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        Lanes sa, sb;
        const Lanes& a = integer(warp, step, 0, sa);
        const Lanes& b = integer(warp, step, 1, sb);
        assign(destination(warp, step), written(step, active),
               [&](int i) { return function(a[i], b[i]); });
    }
};

template <auto function>
struct Unary {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        Lanes sa;
        const Lanes& a = integer(warp, step, 0, sa);
        assign(destination(warp, step), written(step, active),
               [&](int i) { return function(a[i]); });
    }
};

template <auto function>
struct Ternary {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        Lanes sa, sb, sc;
        const Lanes& a = integer(warp, step, 0, sa);
        const Lanes& b = integer(warp, step, 1, sb);
        const Lanes& c = integer(warp, step, 2, sc);
        assign(destination(warp, step), written(step, active),
               [&](int i) { return function(a[i], b[i], c[i]); });
    }
};

template <bool is_signed>
OCCUPIPE_INLINE constexpr bool less(u32 a, u32 b) {
    return is_signed ? as_signed(a) < as_signed(b) : a < b;
}

}  // namespace occupipe::isa
