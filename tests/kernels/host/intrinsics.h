// SPDX-License-Identifier: MIT
// CUDA's functions of one thread. Conversions saturate as CUDA's do; approximations of the hardware
// (rsqrtf and its kin) are correctly rounded here.
#pragma once

#include <math.h>

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>

#define OCCUPIPE_MIN_MAX(type)                                   \
    constexpr type min(type a, type b) { return b < a ? b : a; } \
    constexpr type max(type a, type b) { return a < b ? b : a; }
OCCUPIPE_MIN_MAX(int)
OCCUPIPE_MIN_MAX(unsigned)
OCCUPIPE_MIN_MAX(long)
OCCUPIPE_MIN_MAX(unsigned long)
OCCUPIPE_MIN_MAX(long long)
OCCUPIPE_MIN_MAX(unsigned long long)
OCCUPIPE_MIN_MAX(float)
OCCUPIPE_MIN_MAX(double)
#undef OCCUPIPE_MIN_MAX
constexpr unsigned min(int a, unsigned b) { return min(static_cast<unsigned>(a), b); }
constexpr unsigned min(unsigned a, int b) { return min(a, static_cast<unsigned>(b)); }
constexpr unsigned max(int a, unsigned b) { return max(static_cast<unsigned>(a), b); }
constexpr unsigned max(unsigned a, int b) { return max(a, static_cast<unsigned>(b)); }

// Bits.
constexpr int __popc(unsigned a) { return std::popcount(a); }
constexpr int __popcll(unsigned long long a) { return std::popcount(a); }
constexpr int __clz(int a) { return std::countl_zero(static_cast<unsigned>(a)); }
constexpr int __clzll(long long a) { return std::countl_zero(static_cast<unsigned long long>(a)); }
constexpr int __ffs(int a) { return a ? std::countr_zero(static_cast<unsigned>(a)) + 1 : 0; }
constexpr int __ffsll(long long a) {
    return a ? std::countr_zero(static_cast<unsigned long long>(a)) + 1 : 0;
}
constexpr unsigned __brev(unsigned a) {
    unsigned turned = 0;
    for (int i = 0; i < 32; ++i) turned |= (a >> i & 1) << (31 - i);
    return turned;
}
constexpr unsigned long long __brevll(unsigned long long a) {
    return static_cast<unsigned long long>(__brev(static_cast<unsigned>(a))) << 32 |
           __brev(static_cast<unsigned>(a >> 32));
}
constexpr unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
    const unsigned long long both = static_cast<unsigned long long>(b) << 32 | a;
    unsigned made = 0;
    for (int i = 0; i < 4; ++i) {
        const unsigned which = selector >> (4 * i) & 7;
        made |= static_cast<unsigned>(both >> (8 * which) & 0xff) << (8 * i);
    }
    return made;
}
constexpr unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by) {
    by &= 31;
    return by ? high << by | low >> (32 - by) : high;
}
constexpr unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) {
    by &= 31;
    return by ? low >> by | high << (32 - by) : low;
}
constexpr unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned by) {
    return by >= 32 ? low : __funnelshift_l(low, high, by);
}
constexpr unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned by) {
    return by >= 32 ? high : __funnelshift_r(low, high, by);
}

// Integers.
constexpr int __mulhi(int a, int b) {
    return static_cast<int>(static_cast<long long>(a) * b >> 32);
}
constexpr unsigned __umulhi(unsigned a, unsigned b) {
    return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
constexpr long long __mul64hi(long long a, long long b) {
    return static_cast<long long>(static_cast<__int128>(a) * b >> 64);
}
constexpr unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
constexpr int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
constexpr unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
constexpr int __hadd(int a, int b) {
    return static_cast<int>((static_cast<long long>(a) + b) >> 1);
}
constexpr int __rhadd(int a, int b) {
    return static_cast<int>((static_cast<long long>(a) + b + 1) >> 1);
}
constexpr unsigned __uhadd(unsigned a, unsigned b) {
    return static_cast<unsigned>((static_cast<unsigned long long>(a) + b) >> 1);
}
constexpr unsigned __urhadd(unsigned a, unsigned b) {
    return static_cast<unsigned>((static_cast<unsigned long long>(a) + b + 1) >> 1);
}
constexpr unsigned __usad(unsigned a, unsigned b, unsigned c) {
    return (a < b ? b - a : a - b) + c;
}
constexpr unsigned __sad(int a, int b, unsigned c) {
    return static_cast<unsigned>(a < b ? static_cast<long long>(b) - a
                                       : static_cast<long long>(a) - b) +
           c;
}
constexpr int __dp4a(int a, int b, int c) {
    for (int i = 0; i < 32; i += 8)
        c += static_cast<std::int8_t>(a >> i) * static_cast<std::int8_t>(b >> i);
    return c;
}
constexpr unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
    for (int i = 0; i < 32; i += 8) c += (a >> i & 0xff) * (b >> i & 0xff);
    return c;
}
constexpr int __dp2a_lo(int a, int b, int c) {
    return c + static_cast<std::int16_t>(a) * static_cast<std::int8_t>(b) +
           static_cast<std::int16_t>(a >> 16) * static_cast<std::int8_t>(b >> 8);
}
constexpr int __dp2a_hi(int a, int b, int c) {
    return c + static_cast<std::int16_t>(a) * static_cast<std::int8_t>(b >> 16) +
           static_cast<std::int16_t>(a >> 16) * static_cast<std::int8_t>(b >> 24);
}

// The same bits as another type.
inline int __float_as_int(float a) { return std::bit_cast<int>(a); }
inline unsigned __float_as_uint(float a) { return std::bit_cast<unsigned>(a); }
inline float __int_as_float(int a) { return std::bit_cast<float>(a); }
inline float __uint_as_float(unsigned a) { return std::bit_cast<float>(a); }
inline long long __double_as_longlong(double a) { return std::bit_cast<long long>(a); }
inline double __longlong_as_double(long long a) { return std::bit_cast<double>(a); }
inline int __double2hiint(double a) { return static_cast<int>(std::bit_cast<long long>(a) >> 32); }
inline int __double2loint(double a) { return static_cast<int>(std::bit_cast<long long>(a)); }
inline double __hiloint2double(int high, int low) {
    return std::bit_cast<double>(static_cast<unsigned long long>(static_cast<unsigned>(high))
                                     << 32 |
                                 static_cast<unsigned>(low));
}

// Arithmetic with the rounding in the name.
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __frcp_rn(float a) { return 1.0f / a; }
inline float __fsqrt_rn(float a) { return std::sqrt(a); }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __drcp_rn(double a) { return 1.0 / a; }
inline double __dsqrt_rn(double a) { return std::sqrt(a); }
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
inline float __saturatef(float a) { return a > 0 ? (a < 1 ? a : 1.0f) : 0.0f; }

// The same in the other directions: the processor's own, around one operation.
namespace occupipe::test::host {
template <typename Operation>
[[gnu::noinline]] auto toward(int direction, const Operation& operation) {
    const int before = std::fegetround();
    std::fesetround(direction);
    const volatile auto result = operation();  // keeps the operation between the two
    std::fesetround(before);
    return result;
}
template <typename T>
T opaque(T value) {  // a value that the compiler does not compute with
    volatile T kept = value;
    return kept;
}
}  // namespace occupipe::test::host

#define OCCUPIPE_DIRECTED(name, type, parameters, expression)                                     \
    inline type __##name##_rz parameters {                                                        \
        return occupipe::test::host::toward(FE_TOWARDZERO, [&]() -> type { return expression; }); \
    }                                                                                             \
    inline type __##name##_ru parameters {                                                        \
        return occupipe::test::host::toward(FE_UPWARD, [&]() -> type { return expression; });     \
    }                                                                                             \
    inline type __##name##_rd parameters {                                                        \
        return occupipe::test::host::toward(FE_DOWNWARD, [&]() -> type { return expression; });   \
    }
OCCUPIPE_DIRECTED(fadd, float, (float a, float b), occupipe::test::host::opaque(a) + b)
OCCUPIPE_DIRECTED(fsub, float, (float a, float b), occupipe::test::host::opaque(a) - b)
OCCUPIPE_DIRECTED(fmul, float, (float a, float b), occupipe::test::host::opaque(a) * b)
OCCUPIPE_DIRECTED(fdiv, float, (float a, float b), occupipe::test::host::opaque(a) / b)
OCCUPIPE_DIRECTED(frcp, float, (float a), 1.0f / occupipe::test::host::opaque(a))
OCCUPIPE_DIRECTED(fsqrt, float, (float a), std::sqrt(occupipe::test::host::opaque(a)))
OCCUPIPE_DIRECTED(fmaf, float, (float a, float b, float c),
                  std::fma(occupipe::test::host::opaque(a), b, c))
OCCUPIPE_DIRECTED(dadd, double, (double a, double b), occupipe::test::host::opaque(a) + b)
OCCUPIPE_DIRECTED(dsub, double, (double a, double b), occupipe::test::host::opaque(a) - b)
OCCUPIPE_DIRECTED(dmul, double, (double a, double b), occupipe::test::host::opaque(a) * b)
OCCUPIPE_DIRECTED(ddiv, double, (double a, double b), occupipe::test::host::opaque(a) / b)
OCCUPIPE_DIRECTED(drcp, double, (double a), 1.0 / occupipe::test::host::opaque(a))
OCCUPIPE_DIRECTED(dsqrt, double, (double a), std::sqrt(occupipe::test::host::opaque(a)))
OCCUPIPE_DIRECTED(fma, double, (double a, double b, double c),
                  std::fma(occupipe::test::host::opaque(a), b, c))
#undef OCCUPIPE_DIRECTED

// Approximations: correctly rounded.
inline float rsqrtf(float a) { return static_cast<float>(1.0L / sqrtl(a)); }
inline float __frsqrt_rn(float a) { return rsqrtf(a); }

// Conversions to integers, which end at the type's ends. What is no number becomes 0, or, from or
// to 64 bits, the integer whose highest bit alone is set (PTX manual, cvt).
namespace occupipe::test::host {
template <typename To, typename From>
To saturated(From value) {
    if (std::isnan(value)) {
        return sizeof(To) == 8 || sizeof(From) == 8 ? static_cast<To>(1ull << (8 * sizeof(To) - 1))
                                                    : To{0};
    }
    const long double wide = value;
    if (wide <= static_cast<long double>(std::numeric_limits<To>::min()))
        return std::numeric_limits<To>::min();
    if (wide >= static_cast<long double>(std::numeric_limits<To>::max()))
        return std::numeric_limits<To>::max();
    return static_cast<To>(value);
}
}  // namespace occupipe::test::host

#define OCCUPIPE_CONVERT(from, name, to, to_name)                      \
    inline to __##name##2##to_name##_rn(from a) {                      \
        return occupipe::test::host::saturated<to>(std::nearbyint(a)); \
    }                                                                  \
    inline to __##name##2##to_name##_rz(from a) {                      \
        return occupipe::test::host::saturated<to>(std::trunc(a));     \
    }                                                                  \
    inline to __##name##2##to_name##_rd(from a) {                      \
        return occupipe::test::host::saturated<to>(std::floor(a));     \
    }                                                                  \
    inline to __##name##2##to_name##_ru(from a) {                      \
        return occupipe::test::host::saturated<to>(std::ceil(a));      \
    }
OCCUPIPE_CONVERT(float, float, int, int)
OCCUPIPE_CONVERT(float, float, unsigned, uint)
OCCUPIPE_CONVERT(float, float, long long, ll)
OCCUPIPE_CONVERT(float, float, unsigned long long, ull)
OCCUPIPE_CONVERT(double, double, int, int)
OCCUPIPE_CONVERT(double, double, unsigned, uint)
OCCUPIPE_CONVERT(double, double, long long, ll)
OCCUPIPE_CONVERT(double, double, unsigned long long, ull)
#undef OCCUPIPE_CONVERT
// Conversions to reals, with the direction of rounding in the name. Nearest is the host's own; the
// others step to the neighbour where that lies on the wrong side.
namespace occupipe::test::host {
enum class Toward { nearest, zero, up, down };

template <typename To, Toward Direction, typename From>
To rounded(From value) {
    constexpr To infinity = std::numeric_limits<To>::infinity();
    const To near = static_cast<To>(value);
    if (Direction == Toward::nearest || near != near) return near;
    // Both are exact in 64 bits of mantissa: integers of 64 bits, double, and what is rounded.
    static_assert(std::numeric_limits<long double>::digits >= 64);
    const auto exact = static_cast<long double>(value), got = static_cast<long double>(near);
    const bool up = Direction == Toward::up || (Direction == Toward::zero && exact < 0);
    if (up && got < exact) return std::nextafter(near, infinity);
    if (!up && got > exact) return std::nextafter(near, -infinity);
    return near;
}
}  // namespace occupipe::test::host

#define OCCUPIPE_TO_REAL(from, name, to)                                                 \
    inline to __##name##2##to##_rn(from a) { return static_cast<to>(a); }                \
    inline to __##name##2##to##_rz(from a) {                                             \
        return occupipe::test::host::rounded<to, occupipe::test::host::Toward::zero>(a); \
    }                                                                                    \
    inline to __##name##2##to##_ru(from a) {                                             \
        return occupipe::test::host::rounded<to, occupipe::test::host::Toward::up>(a);   \
    }                                                                                    \
    inline to __##name##2##to##_rd(from a) {                                             \
        return occupipe::test::host::rounded<to, occupipe::test::host::Toward::down>(a); \
    }
OCCUPIPE_TO_REAL(int, int, float)
OCCUPIPE_TO_REAL(unsigned, uint, float)
OCCUPIPE_TO_REAL(long long, ll, float)
OCCUPIPE_TO_REAL(unsigned long long, ull, float)
OCCUPIPE_TO_REAL(long long, ll, double)
OCCUPIPE_TO_REAL(unsigned long long, ull, double)
OCCUPIPE_TO_REAL(double, double, float)
#undef OCCUPIPE_TO_REAL
inline double __int2double_rn(int a) { return a; }
inline double __uint2double_rn(unsigned a) { return a; }

// Loads and stores that name a cache.
template <typename T>
T __ldg(const T* from) {
    return *from;
}
template <typename T>
T __ldca(const T* from) {
    return *from;
}
template <typename T>
T __ldcg(const T* from) {
    return *from;
}
template <typename T>
T __ldcs(const T* from) {
    return *from;
}
template <typename T>
void __stcg(T* to, T value) {
    *to = value;
}
template <typename T>
void __stcs(T* to, T value) {
    *to = value;
}
template <typename T>
void __stwt(T* to, T value) {
    *to = value;
}
