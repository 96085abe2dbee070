// SPDX-License-Identifier: MIT
// Second hand. Two halves in a word: products, sums, fused multiply-adds, minima and maxima, comparisons to masks, absolute
// values and negation, conversions with rounding, and bfloat16 in the same manner. The operations are written as the PTX
// instructions; the host computes them in wider formats and rounds once. Inputs are finite; magnitudes of bfloat16 stay
// within 2^±20, where a product and a sum of three terms are exact in double.

typedef unsigned packed; // low half: element 0

#ifdef __CUDACC__
#define PAIR2(name, op)                                                                                \
    static __device__ __forceinline__ packed name(packed a, packed b) {                                \
        packed r;                                                                                      \
        asm(op " %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));                                             \
        return r;                                                                                      \
    }
PAIR2(h_add, "add.rn.f16x2")
PAIR2(h_sub, "sub.rn.f16x2")
PAIR2(h_mul, "mul.rn.f16x2")
PAIR2(h_less, "set.lt.f16x2.f16x2")
static __device__ __forceinline__ packed h_fma(packed a, packed b, packed c) {
    packed r;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
}
static __device__ __forceinline__ packed h_fma_sat(packed a, packed b, packed c) {
    packed r;
    asm("fma.rn.sat.f16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
}
static __device__ __forceinline__ packed h_neg(packed a) {
    packed r;
    asm("neg.f16x2 %0, %1;" : "=r"(r) : "r"(a));
    return r;
}
static __device__ __forceinline__ unsigned short f2h(float v) {
    unsigned short r;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(v));
    return r;
}
static __device__ __forceinline__ float h2f(unsigned short v) {
    float r;
    asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(v));
    return r;
}
static __device__ __forceinline__ unsigned short i2h(int v) {
    unsigned short r;
    asm("cvt.rn.f16.s32 %0, %1;" : "=h"(r) : "r"(v));
    return r;
}
static __device__ __forceinline__ int h2i(unsigned short v) {
    int r;
    asm("cvt.rzi.s32.f16 %0, %1;" : "=r"(r) : "h"(v));
    return r;
}
#else
// Rounds to a format of `digits` significant bits with the least normal exponent `least` (half: 11, -14), ties to even; exact
// input. The largest finite value is below 2^top.
static unsigned short narrow(double v, int digits, int least, int top) {
    const unsigned long long sign = __builtin_signbit(v) ? 1 : 0;
    double m = __builtin_fabs(v);
    const int fraction = digits - 1;
    int e = m == 0 ? least : __builtin_ilogb(m);
    if (e < least)
        e = least;
    const double unit = __builtin_ldexp(1.0, e - fraction);
    m = __builtin_nearbyint(m / unit); // at most 2^digits: exact
    unsigned long long bits = static_cast<unsigned long long>(e - least) << fraction;
    bits += static_cast<unsigned long long>(m); // the hidden bit counts one exponent up
    const unsigned long long infinity = static_cast<unsigned long long>(top - least + 1) << fraction;
    if (bits > infinity || m != m || v - v != 0)
        bits = infinity;
    return static_cast<unsigned short>(sign << 15 | bits);
}
static double widen(unsigned short v, int digits, int least) {
    const int fraction = digits - 1, e = (v & 0x7fff) >> fraction;
    const double m = (v & ((1 << fraction) - 1)) + (e > 0 ? (1 << fraction) : 0);
    const double r = __builtin_ldexp(m, (e > 0 ? e - 1 : 0) + least - fraction);
    return (v & 0x8000) != 0 ? -r : r;
}
static unsigned short to_half(double v) { return narrow(v, 11, -14, 16); }
static double from_half(unsigned short v) { return widen(v, 11, -14); }
template <class F>
static packed each(packed a, packed b, packed c, F f) {
    packed r = 0;
    for (int i = 0; i < 2; ++i)
        r |= static_cast<packed>(f(from_half(static_cast<unsigned short>(a >> 16 * i)), from_half(static_cast<unsigned short>(b >> 16 * i)),
                                   from_half(static_cast<unsigned short>(c >> 16 * i))))
             << 16 * i;
    return r;
}
static packed h_add(packed a, packed b) {
    return each(a, b, 0, [](double x, double y, double) { return to_half(x + y); });
}
static packed h_sub(packed a, packed b) {
    return each(a, b, 0, [](double x, double y, double) { return to_half(x - y); });
}
static packed h_mul(packed a, packed b) {
    return each(a, b, 0, [](double x, double y, double) { return to_half(x * y); });
}
static packed h_less(packed a, packed b) {
    return each(a, b, 0, [](double x, double y, double) { return static_cast<unsigned short>(x < y ? 0x3c00 : 0); });
}
static packed h_fma(packed a, packed b, packed c) {
    return each(a, b, c, [](double x, double y, double z) { return to_half(x * y + z); });
}
static packed h_fma_sat(packed a, packed b, packed c) {
    return each(a, b, c, [](double x, double y, double z) {
        const double r = x * y + z;
        return to_half(r > 1 ? 1 : r > 0 ? r : 0);
    });
}
static packed h_neg(packed a) { return a ^ 0x80008000u; }
static unsigned short f2h(float v) { return to_half(v); }
static float h2f(unsigned short v) { return static_cast<float>(from_half(v)); }
static unsigned short i2h(int v) { return to_half(v); }
static int h2i(unsigned short v) { return static_cast<int>(from_half(v)); }
#endif

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
static __device__ __forceinline__ packed b_fma(packed a, packed b, packed c) {
    packed r;
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
}
static __device__ __forceinline__ packed b_max(packed a, packed b) {
    packed r;
    asm("max.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
}
static __device__ __forceinline__ packed b_pack(float high, float low) {
    packed r;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
    return r;
}
#else
// Older than 8.0, and the host: by way of the exact double, rounded on its bits (normal results only).
static __device__ unsigned short to_brain(double v) {
#ifdef __CUDACC__
    unsigned long long bits = static_cast<unsigned long long>(__double_as_longlong(v));
#else
    unsigned long long bits;
    __builtin_memcpy(&bits, &v, 8);
#endif
    const unsigned short sign = static_cast<unsigned short>(bits >> 48 & 0x8000u);
    bits &= 0x7fffffffffffffffULL;
    if (bits == 0u)
        return sign;
    bits -= 896ULL << 52;                               // the bias of 1023 becomes 127
    bits += 0xfffffffffffULL + (bits >> 45 & 1u);       // half of the last place, less one where it is even
    return static_cast<unsigned short>(sign | bits >> 45);
}
static __device__ double from_brain(unsigned short v) { return static_cast<double>(__int_as_float(static_cast<int>(static_cast<unsigned>(v) << 16))); }
static __device__ packed b_fma(packed a, packed b, packed c) {
    packed r = 0;
    for (int i = 0; i < 32; i += 16)
        r |= static_cast<packed>(to_brain(from_brain(static_cast<unsigned short>(a >> i)) * from_brain(static_cast<unsigned short>(b >> i)) +
                                          from_brain(static_cast<unsigned short>(c >> i))))
             << i;
    return r;
}
static __device__ packed b_max(packed a, packed b) {
    packed r = 0;
    for (int i = 0; i < 32; i += 16) {
        const unsigned short x = static_cast<unsigned short>(a >> i), y = static_cast<unsigned short>(b >> i);
        // zeros of both signs do not occur: a maximum of them is the positive one on a device
        r |= static_cast<packed>(from_brain(x) > from_brain(y) ? x : y) << i;
    }
    return r;
}
static __device__ packed b_pack(float high, float low) { return static_cast<packed>(to_brain(high)) << 16 | to_brain(low); }
#endif

static __device__ __forceinline__ packed both(unsigned short h) { return static_cast<packed>(h) << 16 | h; }

// Complex numbers in one word, z <- z z + c, until |z|^2 > 4 or the end; escape counts and the last z.
extern "C" __global__ void half_escape(const float* centres, int count, int* turns, packed* last) {
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    if (me >= count)
        return;
    const float re = centres[2 * me], im = centres[2 * me + 1];
    const packed c = static_cast<packed>(f2h(im)) << 16 | f2h(re);
    packed z = c;
    int n = 0;
    for (; n < 40; ++n) {
        const packed squares = h_mul(z, z);
        const unsigned short r2 = static_cast<unsigned short>(squares), i2 = static_cast<unsigned short>(squares >> 16);
        if (h2f(r2) + h2f(i2) > 4.0f)
            break;
        // (re re - im im, re im + re im) + c
        const packed rr = both(static_cast<unsigned short>(z)), swapped = (z << 16 | z >> 16) ^ 0x8000u;
        const packed first = h_fma(rr, z, c);
        const packed second = h_mul(both(static_cast<unsigned short>(z >> 16)), swapped);
        z = h_add(first, second);
    }
    turns[me] = n;
    last[me] = z;
}

// Any finite bits, subnormal numbers too: exponents are kept from overflow by masking the top one away.
extern "C" __global__ void half_mixed(const packed* in, int count, packed* out, int* whole) {
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    if (me >= count)
        return;
    const packed mask = 0xbfffbfffu; // below 2
    const packed a = in[me] & mask, b = in[(me + 1) % count] & mask, c = in[(me + 2) % count] & mask;
    const packed tiny = in[me] & 0x87ff87ffu; // subnormal and the first normal numbers
    out[8 * me] = h_add(a, b);
    out[8 * me + 1] = h_sub(a, h_neg(tiny));
    out[8 * me + 2] = h_mul(a, tiny);
    out[8 * me + 3] = h_fma(a, b, c);
    out[8 * me + 4] = h_fma_sat(a, b, c);
    out[8 * me + 5] = h_less(a, b) | h_less(h_neg(c), tiny) << 1;
    packed poly = h_mul(c, both(f2h(0.125f)));
    for (int k = 0; k < 4; ++k)
        poly = h_fma(poly, a, both(i2h(k - 2)));
    out[8 * me + 6] = poly;
    const float wide = h2f(static_cast<unsigned short>(a)) * 3.7f + h2f(static_cast<unsigned short>(b >> 16));
    out[8 * me + 7] = both(f2h(wide));
    whole[2 * me] = h2i(f2h(wide * 1000.0f));
    whole[2 * me + 1] = static_cast<int>(i2h(static_cast<int>(in[me]) >> 14));
}

extern "C" __global__ void brain_mixed(const float* in, int count, packed* out) {
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    if (me >= count)
        return;
    const packed a = b_pack(in[me], in[(me + 3) % count]), b = b_pack(in[(me + 1) % count], in[(me + 4) % count]);
    packed c = b_pack(in[(me + 2) % count], in[(me + 5) % count]);
    const packed one = 0x3f803f80u;
    out[4 * me] = b_fma(a, b, c);
    out[4 * me + 1] = b_fma(a, one, b);
    out[4 * me + 2] = b_max(a, b);
    for (int k = 0; k < 3; ++k)
        c = b_fma(c, a, one);
    out[4 * me + 3] = c;
}
