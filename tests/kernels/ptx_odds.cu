// SPDX-License-Identifier: MIT
// Second hand. Instructions of PTX that C++ has no words for, each in a line of inline assembly and beside it the formula:
// fields put in and taken out, any function of three bits, permutations of bytes in every mode, shifts that clamp, the
// place of the highest bit, selection by sign, 16-bit products, carries through 64 bits, multiplication to twice the width.

#ifdef __CUDACC__
#define THREE(name, op)                                                                \
    static __device__ __forceinline__ unsigned name(unsigned a, unsigned b, unsigned c) { \
        unsigned r;                                                                    \
        asm(op " %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));                 \
        return r;                                                                      \
    }
#define TWO(name, op)                                                                  \
    static __device__ __forceinline__ unsigned name(unsigned a, unsigned b) {          \
        unsigned r;                                                                    \
        asm(op " %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));                             \
        return r;                                                                      \
    }
#define ONE(name, op)                                                                  \
    static __device__ __forceinline__ unsigned name(unsigned a) {                      \
        unsigned r;                                                                    \
        asm(op " %0, %1;" : "=r"(r) : "r"(a));                                         \
        return r;                                                                      \
    }
THREE(take_field, "bfe.u32")
THREE(take_signed_field, "bfe.s32")
THREE(permute_f4e, "prmt.b32.f4e")
THREE(permute_b4e, "prmt.b32.b4e")
THREE(permute_rc8, "prmt.b32.rc8")
THREE(permute_ecl, "prmt.b32.ecl")
THREE(permute_ecr, "prmt.b32.ecr")
THREE(permute_rc16, "prmt.b32.rc16")
THREE(permute, "prmt.b32")
THREE(select_by_sign, "slct.u32.s32")
THREE(shift_clamp, "shf.r.clamp.b32")
THREE(multiply_add_high, "mad.hi.s32")
THREE(multiply_add_24, "mad24.lo.u32")
TWO(multiply_24_high, "mul24.hi.u32")
TWO(clear_not, "min.u32")
ONE(highest, "bfind.u32")
ONE(highest_signed, "bfind.s32")
ONE(highest_shift, "bfind.shiftamt.u32")
ONE(logical_not, "cnot.b32")
static __device__ __forceinline__ unsigned put_field(unsigned a, unsigned b, unsigned c, unsigned d) {
    unsigned r;
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(a), "r"(b), "r"(c), "r"(d));
    return r;
}
template <int Table>
static __device__ __forceinline__ unsigned logic3(unsigned a, unsigned b, unsigned c) {
    unsigned r;
    asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(a), "r"(b), "r"(c), "n"(Table));
    return r;
}
static __device__ __forceinline__ unsigned long long wide_field(unsigned long long a, unsigned b, unsigned c) {
    unsigned long long r;
    asm("bfe.u64 %0, %1, %2, %3;" : "=l"(r) : "l"(a), "r"(b), "r"(c));
    return r;
}
static __device__ __forceinline__ unsigned long long wide_sum(unsigned long long a, unsigned long long b, unsigned& carry) {
    unsigned long long r;
    asm("{\n\t.reg .u32 a0, a1, b0, b1, r0, r1;\n\t"
        "mov.b64 {a0, a1}, %2;\n\tmov.b64 {b0, b1}, %3;\n\t"
        "add.cc.u32 r0, a0, b0;\n\taddc.cc.u32 r1, a1, b1;\n\taddc.u32 %1, 0, 0;\n\t"
        "mov.b64 %0, {r0, r1};\n\t}"
        : "=l"(r), "=r"(carry)
        : "l"(a), "l"(b));
    return r;
}
static __device__ __forceinline__ long long wide_product(int a, int b, long long c) {
    long long r;
    asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(r) : "r"(a), "r"(b), "l"(c));
    return r;
}
static __device__ __forceinline__ unsigned short narrow_steps(unsigned short a, unsigned short b) {
    unsigned short r;
    asm("{\n\t.reg .u16 t, u;\n\t"
        "mad.lo.u16 t, %1, %2, %1;\n\tmul.hi.u16 u, %1, %2;\n\t"
        "shr.s16 t, t, 3;\n\tsub.u16 t, t, u;\n\tmax.s16 t, t, %2;\n\tnot.b16 u, u;\n\txor.b16 %0, t, u;\n\t}"
        : "=h"(r)
        : "h"(a), "h"(b));
    return r;
}
static __device__ __forceinline__ int saturated_sum(int a, int b) {
    int r;
    asm("add.sat.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
}
static __device__ __forceinline__ unsigned kinds(float v) {
    unsigned r;
    asm("{\n\t.reg .pred p, q, s, t;\n\t.reg .u32 a, b, c, d;\n\t"
        "testp.subnormal.f32 p, %1;\n\ttestp.infinite.f32 q, %1;\n\ttestp.notanumber.f32 s, %1;\n\ttestp.normal.f32 t, %1;\n\t"
        "selp.u32 a, 1, 0, p;\n\tselp.u32 b, 2, 0, q;\n\tselp.u32 c, 4, 0, s;\n\tselp.u32 d, 8, 0, t;\n\t"
        "or.b32 a, a, b;\n\tor.b32 c, c, d;\n\tor.b32 %0, a, c;\n\t}"
        : "=r"(r)
        : "f"(v));
    return r;
}
#else
typedef unsigned long long word64;
static unsigned take_field(unsigned a, unsigned b, unsigned c) {
    b &= 255u, c &= 255u;
    const word64 up = b < 32u ? a >> b : 0u;
    return static_cast<unsigned>(c < 32u ? up & ((1u << c) - 1u) : up);
}
static unsigned take_signed_field(unsigned a, unsigned b, unsigned c) {
    b &= 255u, c &= 255u;
    if (c == 0u)
        return 0u;
    const long long wide = static_cast<int>(a);
    const unsigned last = b + c - 1u < 31u ? b + c - 1u : 31u; // the sign's place
    const long long up = wide >> (b < 32u ? b : 32u), sign = a >> last & 1u ? -1 : 0;
    return static_cast<unsigned>(c < 32u ? (up & ((1LL << c) - 1)) | (sign & ~((1LL << c) - 1)) : b < 32u ? up : sign);
}
static unsigned byte_of(word64 both, unsigned i) { return static_cast<unsigned>(both >> 8u * (i & 7u)) & 255u; }
template <class F>
static unsigned bytes_by(unsigned a, unsigned b, F which) {
    unsigned r = 0;
    for (unsigned i = 0; i < 4u; ++i)
        r |= byte_of(static_cast<word64>(b) << 32 | a, which(i)) << 8u * i;
    return r;
}
static unsigned permute_f4e(unsigned a, unsigned b, unsigned c) {
    return bytes_by(a, b, [&](unsigned i) { return (c & 3u) + i; });
}
static unsigned permute_b4e(unsigned a, unsigned b, unsigned c) {
    return bytes_by(a, b, [&](unsigned i) { return (c & 3u) - i; });
}
static unsigned permute_rc8(unsigned a, unsigned b, unsigned c) {
    return bytes_by(a, b, [&](unsigned) { return c & 3u; });
}
static unsigned permute_ecl(unsigned a, unsigned b, unsigned c) {
    return bytes_by(a, b, [&](unsigned i) { return i < (c & 3u) ? c & 3u : i; });
}
static unsigned permute_ecr(unsigned a, unsigned b, unsigned c) {
    return bytes_by(a, b, [&](unsigned i) { return i < (c & 3u) ? i : c & 3u; });
}
static unsigned permute_rc16(unsigned a, unsigned b, unsigned c) {
    return bytes_by(a, b, [&](unsigned i) { return (c & 1u) * 2u + (i & 1u); });
}
static unsigned permute(unsigned a, unsigned b, unsigned c) {
    unsigned r = 0;
    for (unsigned i = 0; i < 4u; ++i) {
        const unsigned byte = byte_of(static_cast<word64>(b) << 32 | a, c >> 4u * i);
        r |= ((c >> (4u * i + 3u) & 1u) != 0u ? (byte & 128u) != 0u ? 255u : 0u : byte) << 8u * i;
    }
    return r;
}
static unsigned select_by_sign(unsigned a, unsigned b, unsigned c) { return static_cast<int>(c) >= 0 ? a : b; }
static unsigned shift_clamp(unsigned a, unsigned b, unsigned c) { return static_cast<unsigned>((static_cast<word64>(b) << 32 | a) >> (c < 32u ? c : 32u)); }
static unsigned multiply_add_high(unsigned a, unsigned b, unsigned c) {
    return static_cast<unsigned>(static_cast<long long>(static_cast<int>(a)) * static_cast<int>(b) >> 32) + c;
}
static unsigned multiply_add_24(unsigned a, unsigned b, unsigned c) { return (a & 0xffffffu) * (b & 0xffffffu) + c; }
static unsigned multiply_24_high(unsigned a, unsigned b) { return static_cast<unsigned>(static_cast<word64>(a & 0xffffffu) * (b & 0xffffffu) >> 16); }
static unsigned clear_not(unsigned a, unsigned b) { return a < b ? a : b; }
static unsigned highest(unsigned a) { return 31u - static_cast<unsigned>(a != 0u ? __builtin_clz(a) : 32); }
static unsigned highest_signed(unsigned a) { return highest(static_cast<int>(a) < 0 ? ~a : a); }
static unsigned highest_shift(unsigned a) { return a != 0u ? static_cast<unsigned>(__builtin_clz(a)) : 0xffffffffu; }
static unsigned logical_not(unsigned a) { return a == 0u ? 1u : 0u; }
static unsigned put_field(unsigned a, unsigned b, unsigned c, unsigned d) {
    c &= 255u, d &= 255u;
    unsigned r = b;
    for (unsigned i = 0; i < d && c + i < 32u; ++i)
        r = (r & ~(1u << (c + i))) | (i < 32u ? a >> i & 1u : 0u) << (c + i);
    return r;
}
template <int Table>
static unsigned logic3(unsigned a, unsigned b, unsigned c) {
    unsigned r = 0;
    for (unsigned i = 0; i < 32u; ++i)
        r |= (static_cast<unsigned>(Table) >> ((a >> i & 1u) * 4u + (b >> i & 1u) * 2u + (c >> i & 1u)) & 1u) << i;
    return r;
}
static word64 wide_field(word64 a, unsigned b, unsigned c) {
    b &= 255u, c &= 255u;
    const word64 up = b < 64u ? a >> b : 0u;
    return c < 64u ? up & ((static_cast<word64>(1) << c) - 1u) : up;
}
static word64 wide_sum(word64 a, word64 b, unsigned& carry) {
    carry = a + b < a ? 1u : 0u;
    return a + b;
}
static long long wide_product(int a, int b, long long c) {
    return static_cast<long long>(static_cast<word64>(static_cast<long long>(a) * b) + static_cast<word64>(c));
}
static unsigned short narrow_steps(unsigned short a, unsigned short b) {
    const short t = static_cast<short>(static_cast<unsigned>(a) * b + a);
    const unsigned u = static_cast<unsigned>(a) * b >> 16;
    const short s = static_cast<short>((t >> 3) - static_cast<int>(u)), larger = s < static_cast<short>(b) ? static_cast<short>(b) : s;
    return static_cast<unsigned short>(larger ^ ~u);
}
static int saturated_sum(int a, int b) {
    const long long s = static_cast<long long>(a) + b;
    return static_cast<int>(s < -2147483648LL ? -2147483648LL : s > 2147483647LL ? 2147483647LL : s);
}
static unsigned kinds(float v) {
    const unsigned size = static_cast<unsigned>(__float_as_int(v)) & 0x7fffffffu;
    return (size != 0u && size < 0x800000u ? 1u : 0u) | (size == 0x7f800000u ? 2u : 0u) | (size > 0x7f800000u ? 4u : 0u) |
           (size >= 0x800000u && size < 0x7f800000u ? 8u : 0u);
}
#endif

extern "C" __global__ void ptx_odds(const unsigned* in, int count, unsigned* out, unsigned long long* wide) {
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    if (me >= count)
        return;
    const unsigned a = in[me] >> (me & 3) * 7, b = in[(me + 1) % count], c = in[(me + 2) % count], k = static_cast<unsigned>(me);
    unsigned* o = out + 32 * me;
    o[0] = take_field(a, k & 63u, k >> 3 & 63u);
    o[1] = take_signed_field(a, k & 31u, k >> 2 & 63u);
    o[2] = put_field(a, b, k & 63u, k >> 1 & 63u);
    o[3] = permute_f4e(a, b, k);
    o[4] = permute_b4e(a, b, k);
    o[5] = permute_rc8(a, b, k);
    o[6] = permute_ecl(a, b, k);
    o[7] = permute_ecr(a, b, k);
    o[8] = permute_rc16(a, b, k);
    o[9] = permute(a, b, c);
    o[10] = select_by_sign(a, b, c);
    o[11] = shift_clamp(a, b, k & 63u);
    o[12] = multiply_add_high(a, b, c);
    o[13] = multiply_add_24(a, b, c);
    o[14] = multiply_24_high(a, b);
    o[15] = clear_not(a, b) ^ logical_not(a & 1u);
    o[16] = highest(a >> (k & 31u));
    o[17] = highest_signed(c);
    o[18] = highest_shift(b >> (k & 31u));
    o[19] = logic3<0x96>(a, b, c) ^ logic3<0xe8>(a, b, c);
    o[20] = logic3<0x2d>(a, b, c) + logic3<0xca>(a, b, c);
    o[21] = logic3<0x01>(a, b, c) | logic3<0x7b>(b, a, c) << 1;
    o[22] = narrow_steps(static_cast<unsigned short>(a), static_cast<unsigned short>(b));
    o[23] = narrow_steps(static_cast<unsigned short>(c >> 16), static_cast<unsigned short>(k * 1031u));
    o[24] = static_cast<unsigned>(saturated_sum(static_cast<int>(b), static_cast<int>(c)));
    o[25] = kinds(__int_as_float(static_cast<int>((k & 1u) != 0u ? b : b & 0x807fffffu)));
    o[26] = kinds(__int_as_float(static_cast<int>((k & 3u) == 0u ? 0x7f800000u | (c & 0x80000000u) : c | 0x7f800000u)));
    unsigned carry = 0;
    const unsigned long long x = static_cast<unsigned long long>(a) << 32 | b, y = static_cast<unsigned long long>(b) << 32 | c;
    wide[4 * me] = wide_sum(x, y, carry);
    o[27] = carry;
    wide[4 * me + 1] = wide_field(x, k & 127u, k >> 2 & 127u);
    wide[4 * me + 2] = static_cast<unsigned long long>(wide_product(static_cast<int>(b), static_cast<int>(c), static_cast<long long>(x)));
    wide[4 * me + 3] = wide_sum(~x, x + 1u + (k & 1u), carry);
    o[28] = carry;
    o[29] = permute(b, c, 0x8c9d + k);
    o[30] = take_signed_field(b, 28u, 8u) ^ take_field(b, 31u, 200u);
    o[31] = put_field(a, b, 28u, 12u);
}
