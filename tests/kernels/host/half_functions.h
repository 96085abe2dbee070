// SPDX-License-Identifier: MIT
// The functions of cuda_fp16.h and cuda_bf16.h that are rounded once on every architecture.
#pragma once

#include <bit>
#include <cstdint>

#include "tests/kernels/host/half.h"
#include "tests/kernels/host/vectors.h"

inline float __half2float(__half a) { return a; }
inline __half __float2half(float a) { return a; }
inline __half __float2half_rn(float a) { return a; }
inline __half __double2half(double a) { return a; }
inline __half __int2half_rn(int a) { return a; }
inline __half __uint2half_rn(unsigned a) { return a; }
inline __half __ushort_as_half(unsigned short a) { return __half::of_bits(a); }
inline unsigned short __half_as_ushort(__half a) { return a.bits; }
inline __half __short_as_half(short a) { return __half::of_bits(static_cast<std::uint16_t>(a)); }
inline short __half_as_short(__half a) { return static_cast<short>(a.bits); }
inline float __bfloat162float(__nv_bfloat16 a) { return a; }
inline __nv_bfloat16 __float2bfloat16(float a) { return a; }
inline __nv_bfloat16 __float2bfloat16_rn(float a) { return a; }
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short a) { return __nv_bfloat16::of_bits(a); }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 a) { return a.bits; }

inline __half2 __floats2half2_rn(float a, float b) { return {a, b}; }
inline __half2 __float2half2_rn(float a) { return {a, a}; }
inline __half2 __float22half2_rn(float2 a) { return {a.x, a.y}; }
inline float2 __half22float2(__half2 a) { return {a.x, a.y}; }
inline __half2 __halves2half2(__half a, __half b) { return {a, b}; }
inline __half2 __half2half2(__half a) { return {a, a}; }
inline __half2 make_half2(__half a, __half b) { return {a, b}; }
inline __half __low2half(__half2 a) { return a.x; }
inline __half __high2half(__half2 a) { return a.y; }
inline float __low2float(__half2 a) { return a.x; }
inline float __high2float(__half2 a) { return a.y; }
inline __half2 __lowhigh2highlow(__half2 a) { return {a.y, a.x}; }
inline __half2 __lows2half2(__half2 a, __half2 b) { return {a.x, b.x}; }
inline __half2 __highs2half2(__half2 a, __half2 b) { return {a.y, b.y}; }
inline __half2 __low2half2(__half2 a) { return {a.x, a.x}; }
inline __half2 __high2half2(__half2 a) { return {a.y, a.y}; }
inline __nv_bfloat162 __floats2bfloat162_rn(float a, float b) { return {a, b}; }
inline __nv_bfloat162 __float2bfloat162_rn(float a) { return {a, a}; }
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
inline float2 __bfloat1622float2(__nv_bfloat162 a) { return {a.x, a.y}; }
inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) { return a.x; }
inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) { return a.y; }

#define OCCUPIPE_TWO(name, op)                                                                     \
    template <int M>                                                                               \
    inline occupipe::test::host::Float16<M> __h##name(occupipe::test::host::Float16<M> a,          \
                                                      occupipe::test::host::Float16<M> b) {        \
        return a op b;                                                                             \
    }                                                                                              \
    template <int M>                                                                               \
    inline occupipe::test::host::Float16<M> __h##name##_rn(occupipe::test::host::Float16<M> a,     \
                                                           occupipe::test::host::Float16<M> b) {   \
        return a op b;                                                                             \
    }                                                                                              \
    template <int M>                                                                               \
    inline occupipe::test::host::Float16x2<M> __h##name##2(occupipe::test::host::Float16x2<M> a,   \
                                                           occupipe::test::host::Float16x2<M> b) { \
        return a op b;                                                                             \
    }                                                                                              \
    template <int M>                                                                               \
    inline occupipe::test::host::Float16x2<M> __h##name##2_rn(                                     \
        occupipe::test::host::Float16x2<M> a, occupipe::test::host::Float16x2<M> b) {              \
        return a op b;                                                                             \
    }
OCCUPIPE_TWO(add, +)
OCCUPIPE_TWO(sub, -)
OCCUPIPE_TWO(mul, *)
#undef OCCUPIPE_TWO

#define OCCUPIPE_COMPARE(name, op)                                                                 \
    template <int M>                                                                               \
    inline bool __h##name(occupipe::test::host::Float16<M> a,                                      \
                          occupipe::test::host::Float16<M> b) {                                    \
        return a op b;                                                                             \
    }                                                                                              \
    template <int M>                                                                               \
    inline occupipe::test::host::Float16x2<M> __h##name##2(occupipe::test::host::Float16x2<M> a,   \
                                                           occupipe::test::host::Float16x2<M> b) { \
        return {a.x op b.x ? 1.0f : 0.0f, a.y op b.y ? 1.0f : 0.0f};                               \
    }                                                                                              \
    template <int M>                                                                               \
    inline bool __hb##name##2(occupipe::test::host::Float16x2<M> a,                                \
                              occupipe::test::host::Float16x2<M> b) {                              \
        return a.x op b.x && a.y op b.y;                                                           \
    }
OCCUPIPE_COMPARE(lt, <)
OCCUPIPE_COMPARE(le, <=)
OCCUPIPE_COMPARE(gt, >)
OCCUPIPE_COMPARE(ge, >=)
OCCUPIPE_COMPARE(eq, ==)
OCCUPIPE_COMPARE(ne, !=)
#undef OCCUPIPE_COMPARE

template <int M>
occupipe::test::host::Float16<M> __hfma(occupipe::test::host::Float16<M> a,
                                        occupipe::test::host::Float16<M> b,
                                        occupipe::test::host::Float16<M> c) {
    return fused16(a, b, c);
}
template <int M>
occupipe::test::host::Float16x2<M> __hfma2(occupipe::test::host::Float16x2<M> a,
                                           occupipe::test::host::Float16x2<M> b,
                                           occupipe::test::host::Float16x2<M> c) {
    return {fused16(a.x, b.x, c.x), fused16(a.y, b.y, c.y)};
}
template <int M>
occupipe::test::host::Float16<M> __hneg(occupipe::test::host::Float16<M> a) {
    return -a;
}
template <int M>
occupipe::test::host::Float16x2<M> __hneg2(occupipe::test::host::Float16x2<M> a) {
    return -a;
}
template <int M>
occupipe::test::host::Float16<M> __habs(occupipe::test::host::Float16<M> a) {
    return a.of_bits(a.bits & 0x7fff);
}
template <int M>
occupipe::test::host::Float16x2<M> __habs2(occupipe::test::host::Float16x2<M> a) {
    return {__habs(a.x), __habs(a.y)};
}
template <int M>
occupipe::test::host::Float16<M> __hmin(occupipe::test::host::Float16<M> a,
                                        occupipe::test::host::Float16<M> b) {
    return b < a ? b : a;
}
template <int M>
occupipe::test::host::Float16<M> __hmax(occupipe::test::host::Float16<M> a,
                                        occupipe::test::host::Float16<M> b) {
    return a < b ? b : a;
}
template <int M>
occupipe::test::host::Float16x2<M> __hmin2(occupipe::test::host::Float16x2<M> a,
                                           occupipe::test::host::Float16x2<M> b) {
    return {__hmin(a.x, b.x), __hmin(a.y, b.y)};
}
template <int M>
occupipe::test::host::Float16x2<M> __hmax2(occupipe::test::host::Float16x2<M> a,
                                           occupipe::test::host::Float16x2<M> b) {
    return {__hmax(a.x, b.x), __hmax(a.y, b.y)};
}
inline int __half2int_rz(__half a) { return static_cast<int>(float(a)); }
inline int __half2int_rn(__half a) { return static_cast<int>(std::nearbyint(float(a))); }
