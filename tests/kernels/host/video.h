// SPDX-License-Identifier: MIT
// CUDA's functions of four bytes or two halves in one word ("SIMD intrinsics").
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace occupipe::test::host {

// The parts of a word as T, through `compute` in 32 bits, back modulo their width.
template <typename T, typename Compute>
constexpr unsigned each_part(unsigned a, unsigned b, Compute compute) {
    constexpr unsigned bits = 8 * sizeof(T), mask = (1u << bits) - 1;
    unsigned made = 0;
    for (unsigned at = 0; at < 32; at += bits) {
        const int x = static_cast<T>(a >> at & mask), y = static_cast<T>(b >> at & mask);
        made |= (static_cast<unsigned>(compute(x, y)) & mask) << at;
    }
    return made;
}

template <typename T>
constexpr int in_range(int value) {
    return std::clamp<int>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
}

template <typename T>
constexpr unsigned sum_of_parts(unsigned a) {
    constexpr unsigned bits = 8 * sizeof(T);
    unsigned sum = 0;
    for (unsigned at = 0; at < 32; at += bits) sum += a >> at & ((1u << bits) - 1);
    return sum;
}

}  // namespace occupipe::test::host

// name: of bytes (4) and halves (2); x and y are the parts.
#define OCCUPIPE_PARTS(name, byte, half, expression)               \
    constexpr unsigned __v##name##4(unsigned a, unsigned b) {      \
        using Part [[maybe_unused]] = std::byte##_t;               \
        return occupipe::test::host::each_part<Part>(              \
            a, b, [](int x, int y) -> int { return expression; }); \
    }                                                              \
    constexpr unsigned __v##name##2(unsigned a, unsigned b) {      \
        using Part [[maybe_unused]] = std::half##_t;               \
        return occupipe::test::host::each_part<Part>(              \
            a, b, [](int x, int y) -> int { return expression; }); \
    }
#define OCCUPIPE_UNSIGNED(name, expression) OCCUPIPE_PARTS(name, uint8, uint16, expression)
#define OCCUPIPE_SIGNED(name, expression) OCCUPIPE_PARTS(name, int8, int16, expression)
OCCUPIPE_UNSIGNED(add, x + y)
OCCUPIPE_UNSIGNED(sub, x - y)
OCCUPIPE_UNSIGNED(addus, occupipe::test::host::in_range<Part>(x + y))
OCCUPIPE_UNSIGNED(subus, occupipe::test::host::in_range<Part>(x - y))
OCCUPIPE_SIGNED(addss, occupipe::test::host::in_range<Part>(x + y))
OCCUPIPE_SIGNED(subss, occupipe::test::host::in_range<Part>(x - y))
OCCUPIPE_UNSIGNED(avgu, (x + y + 1) / 2)
OCCUPIPE_SIGNED(avgs, (x + y + (x + y >= 0 ? 1 : 0)) >> 1)
static_assert(__vavgs4(0xfd, 0) == 0xfe);  // half of -3 is -2, as machine code has it
OCCUPIPE_UNSIGNED(haddu, (x + y) / 2)
OCCUPIPE_UNSIGNED(absdiffu, x < y ? y - x : x - y)
OCCUPIPE_SIGNED(absdiffs, x < y ? y - x : x - y)
OCCUPIPE_UNSIGNED(minu, x < y ? x : y)
OCCUPIPE_UNSIGNED(maxu, x < y ? y : x)
OCCUPIPE_SIGNED(mins, x < y ? x : y)
OCCUPIPE_SIGNED(maxs, x < y ? y : x)
#define OCCUPIPE_COMPARED(name, op)                  \
    OCCUPIPE_UNSIGNED(cmp##name##u, x op y ? -1 : 0) \
    OCCUPIPE_SIGNED(cmp##name##s, x op y ? -1 : 0)   \
    OCCUPIPE_UNSIGNED(set##name##u, x op y ? 1 : 0)  \
    OCCUPIPE_SIGNED(set##name##s, x op y ? 1 : 0)
OCCUPIPE_COMPARED(lt, <)
OCCUPIPE_COMPARED(le, <=)
OCCUPIPE_COMPARED(gt, >)
OCCUPIPE_COMPARED(ge, >=)
OCCUPIPE_UNSIGNED(cmpeq, x == y ? -1 : 0)
OCCUPIPE_UNSIGNED(cmpne, x != y ? -1 : 0)
OCCUPIPE_UNSIGNED(seteq, x == y ? 1 : 0)
OCCUPIPE_UNSIGNED(setne, x != y ? 1 : 0)
#undef OCCUPIPE_COMPARED
#undef OCCUPIPE_SIGNED
#undef OCCUPIPE_UNSIGNED
#undef OCCUPIPE_PARTS

constexpr unsigned __vneg4(unsigned a) { return __vsub4(0, a); }
constexpr unsigned __vneg2(unsigned a) { return __vsub2(0, a); }
constexpr unsigned __vnegss4(unsigned a) { return __vsubss4(0, a); }
constexpr unsigned __vnegss2(unsigned a) { return __vsubss2(0, a); }
constexpr unsigned __vabs4(unsigned a) { return __vabsdiffs4(a, 0); }
constexpr unsigned __vabs2(unsigned a) { return __vabsdiffs2(a, 0); }
constexpr unsigned __vabsss4(unsigned a) { return __vmaxs4(a, __vnegss4(a)); }
constexpr unsigned __vabsss2(unsigned a) { return __vmaxs2(a, __vnegss2(a)); }
constexpr unsigned __vsadu4(unsigned a, unsigned b) {
    return occupipe::test::host::sum_of_parts<std::uint8_t>(__vabsdiffu4(a, b));
}
constexpr unsigned __vsadu2(unsigned a, unsigned b) {
    return occupipe::test::host::sum_of_parts<std::uint16_t>(__vabsdiffu2(a, b));
}
constexpr unsigned __vsads4(unsigned a, unsigned b) {
    return occupipe::test::host::sum_of_parts<std::uint8_t>(__vabsdiffs4(a, b));
}
