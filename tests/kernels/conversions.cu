// SPDX-License-Identifier: MIT
// Second hand. Conversions between numbers: every width of integer to float and double and back, in the four directions of
// rounding, with saturation where the value does not fit, NaN included; bits reinterpreted; neighbouring numbers;
// subnormal numbers; correctly rounded division and square roots over all exponents; remainders and roundings.

typedef unsigned long long u64;
typedef long long i64;

extern "C" __global__ void integers_to_real(const u64* in, int count, float* f, double* d) {
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    if (me >= count)
        return;
    const u64 u = in[me] >> (me & 63);
    const i64 s = static_cast<i64>(in[me]) >> (me & 63);
    const unsigned w = static_cast<unsigned>(in[me] >> (me & 31));
    const int i = static_cast<int>(w);
    float* o = f + 16 * me;
    o[0] = __int2float_rn(i);
    o[1] = __int2float_rz(i);
    o[2] = __int2float_ru(i);
    o[3] = __int2float_rd(i);
    o[4] = __uint2float_rn(w);
    o[5] = __uint2float_ru(w);
    o[6] = __ll2float_rn(s);
    o[7] = __ll2float_rz(s);
    o[8] = __ll2float_ru(s);
    o[9] = __ll2float_rd(s);
    o[10] = __ull2float_rn(u);
    o[11] = __ull2float_rd(u);
    o[12] = static_cast<float>(static_cast<short>(w)) / 3.0f;
    o[13] = static_cast<float>(static_cast<signed char>(w)) * 0.1f;
    o[14] = static_cast<float>(static_cast<unsigned char>(w >> 8));
    o[15] = static_cast<float>(static_cast<unsigned short>(w >> 3));
    double* p = d + 8 * me;
    p[0] = __int2double_rn(i);
    p[1] = __uint2double_rn(w);
    p[2] = __ll2double_rn(s);
    p[3] = __ll2double_rz(s);
    p[4] = __ll2double_ru(s);
    p[5] = __ull2double_rd(u);
    p[6] = __hiloint2double(static_cast<int>(w & 0x3fffffffu), static_cast<int>(u));
    p[7] = static_cast<double>(u) / static_cast<double>(w | 1u);
}

// Bits of a word as a float, of every exponent; what is not a number is brought to one form first.
static __device__ float number(unsigned bits) {
    const float v = __int_as_float(static_cast<int>(bits));
    return v != v ? __int_as_float(0x7fc00000) : v;
}

extern "C" __global__ void real_to_integers(const u64* in, int count, int* narrow, i64* wide) {
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    if (me >= count)
        return;
    // even threads: any bits; odd ones: exponents about the sizes of integers
    const unsigned bits = static_cast<unsigned>(in[me]);
    const unsigned chosen = (me & 1) == 0 ? bits : (bits & 0x807fffffu) | (118u + (bits >> 23) % 76u) << 23;
    const float x = me % 97 == 0 ? number(0x7fc00000u) : number(chosen);
    const double y = me % 89 == 0 ? -static_cast<double>(number(0x7f800000u)) : static_cast<double>(x) * (1.0 + 1e-9);
    int* o = narrow + 12 * me;
    o[0] = __float2int_rn(x);
    o[1] = __float2int_rz(x);
    o[2] = __float2int_ru(x);
    o[3] = __float2int_rd(x);
    o[4] = static_cast<int>(__float2uint_rn(x));
    o[5] = static_cast<int>(__float2uint_rz(x));
    o[6] = __double2int_rn(y);
    o[7] = __double2int_ru(y);
    o[8] = static_cast<int>(__double2uint_rz(y));
    o[9] = __float_as_int(__double2float_rn(y));
    o[10] = __float_as_int(__double2float_rz(y));
    o[11] = __double2hiint(y) ^ __double2loint(y);
    i64* p = wide + 8 * me;
    p[0] = __float2ll_rn(x);
    p[1] = __float2ll_rz(x);
    p[2] = static_cast<i64>(__float2ull_rz(x));
    p[3] = __double2ll_rn(y);
    p[4] = __double2ll_rd(y);
    p[5] = static_cast<i64>(__double2ull_rz(y));
    p[6] = __double_as_longlong(floor(y) + ceil(static_cast<double>(x)) * 0.5);
    p[7] = static_cast<i64>(rintf(x) == truncf(x)) | static_cast<i64>(x != x) << 1 | static_cast<i64>(isinf(x) ? 1 : 0) << 2 | static_cast<i64>(signbit(x) ? 1 : 0) << 3;
    // conversions of what is not a number differ between widths on a device: only its own forms are compared above
    if (y != y)
        for (int k = 3; k < 6; ++k)
            p[k] = 0;
    if (x != x || y != y)
        p[6] = 0;
    if (y != y)
        o[9] = o[10] = o[11] = 0;
}

// Quotients, roots and products over all exponents, subnormal results included; no NaN comes in, and one that comes out is
// brought to one form.
extern "C" __global__ void real_corners(const unsigned* in, int count, unsigned* single_bits, u64* double_bits) {
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    if (me >= count)
        return;
    const float a = number(in[me]), b = number(in[(me + 1) % count] & ((me & 2) != 0 ? 0xffffffffu : 0x80ffffffu));
    const float r[8] = {a / b, sqrtf(fabsf(a)), a * b, a + b, fmaf(a, b, -a), fminf(a, b), fmaxf(b, a), a * 1.0e-20f - b * 3.0f};
    for (int k = 0; k < 8; ++k)
        single_bits[8 * me + k] = r[k] != r[k] ? 0x7fc00000u : static_cast<unsigned>(__float_as_int(r[k]));
    const u64 xb = static_cast<u64>(in[(me + 5) % count]) << 32 | in[(me + 9) % count], yb = static_cast<u64>(in[(me + 3) % count]) << 32 | in[me];
    double x = __longlong_as_double(static_cast<i64>(xb)), y = __longlong_as_double(static_cast<i64>((me & 4) != 0 ? yb & ~(0x7fULL << 56) : yb));
    x = x != x ? 1.5 : x;
    y = y != y ? -0.75 : y;
    const double s[6] = {x / y, sqrt(fabs(x)), x * y, x - y, fma(x, y, x), fmin(x, y)};
    for (int k = 0; k < 6; ++k)
        double_bits[6 * me + k] = s[k] != s[k] ? 0x7ff8000000000000ULL : static_cast<u64>(__double_as_longlong(s[k]));
}
