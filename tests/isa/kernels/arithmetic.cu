// SPDX-License-Identifier: MIT
// Numbers of every type: integers of 8 to 64 bits, conversions, special functions, bits.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void integers(int* out, const int* in, unsigned divisor, int shift) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int a = in[2 * i], b = in[2 * i + 1];
    int r = a / (b | 1) + a % (b | 3);
    r += (int)((unsigned)a / divisor) - (int)((unsigned)b % divisor);
    r ^= __mulhi(a, b) + (int)__umulhi(a, b) + __mul24(a, b);
    r += max(a, b) - min(a + 3, b) + (int)max((unsigned)a, (unsigned)b) + abs(a - b);
    r += __popc(a) + __clz(b) + __ffs(a) + (int)__brev(b);
    r ^= (a << (shift & 31)) | ((unsigned)b >> (shift & 31)) | (a >> 7);
    r += __funnelshift_l(a, b, shift) + __funnelshift_rc(a, b, shift);
    r += __byte_perm(a, b, 0x3715) + __byte_perm(a, b, shift);
    r += (a & b) | (~a ^ 0x55aa) | (b & ~shift);
    r += __sad(a, b, 5) + __dp4a(a, b, 7) + __vadd4(a, b) + __vabsdiffu4(a, b);
    r += a * 17 + b * shift + (a > b ? 3 : shift);
    r += (short)a + (signed char)b + (unsigned short)(a >> 3) + ((a >> 5) & 0x3f);
    r += __rhadd(a, b) + __hadd(a, b) + min(min(a, b), shift) + max(max(a, b), 9);
    out[i] = r;
}

extern "C" __global__ void wide_integers(long long* out, const long long* in,
                                         unsigned long long divisor, int shift) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const long long a = in[2 * i], b = in[2 * i + 1];
    long long r = a / (b | 1) + a % (b | 3);
    r += (long long)((unsigned long long)a / divisor);
    r ^= a * b + (long long)__umul64hi(a, b) + __mul64hi(a, b);
    r += max(a, b) - min(a, b) + llabs(a - b);
    r += __popcll(a) + __clzll(b) + __ffsll(a) + (long long)__brevll(b);
    r ^= (a << (shift & 63)) | ((unsigned long long)b >> (shift & 63)) | (a >> 9);
    r += (a & b) | (~a ^ 0x5555aaaall);
    r += a > b ? 3 : shift;
    r += (unsigned long long)a < (unsigned long long)b ? a : -b;
    r += (long long)(int)a * (int)b + (unsigned)a * (unsigned long long)(unsigned)b;
    out[i] = r;
}

extern "C" __global__ void conversions(double* out, const double* in, const int* n,
                                       const long long* w, float* f) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const double d = in[i];
    const float s = f[i];
    double r = (float)d + (int)d + (unsigned)d + (double)(long long)d + (double)(unsigned long long)d;
    r += (int)s + (unsigned)s + (double)(long long)s + (double)(unsigned long long)s;
    r += (float)n[i] + (double)n[i] + (float)(unsigned)n[i] + (double)(unsigned)n[i];
    r += (float)w[i] + (double)w[i] + (float)(unsigned long long)w[i] + (double)(unsigned long long)w[i];
    r += (short)s + (signed char)s + (unsigned char)d + (float)(short)n[i] + (float)(unsigned char)n[i];
    r += floor(d) + ceil(d) + trunc(d) + rint(d) + floorf(s) + ceilf(s) + truncf(s) + rintf(s);
    r += __float2int_rn(s) + __float2int_ru(s) + __float2uint_rd(s) + __double2int_rn(d);
    r += __int2float_rz(n[i]) + __double2float_rz(d) + __double2float_ru(d) + __ll2float_rd(w[i]);
    const __half h = __float2half(s);
    r += __half2float(h) + (float)__half2int_rn(h) + __half2float(__int2half_rn(n[i]));
    const __half2 p = __floats2half2_rn(s, (float)d);
    r += __low2float(p) + __high2float(p) + __half2float(__double2half(d));
    r += __bfloat162float(__float2bfloat16(s));
    const __nv_bfloat162 q = __floats2bfloat162_rn(s, (float)d);
    r += __low2float(q) * __high2float(q);
    r += __hiloint2double(n[i], n[i]) + __double2hiint(d) + __float_as_int(s);
    out[i] = r;
    f[i] = __saturatef(s * 2.0f) + roundf(s) + nearbyintf(s) + copysignf(s, (float)d);
}

extern "C" __global__ void functions(float* out, const float* in, double* wide, float y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float x = in[i];
    float r = sinf(x) + cosf(x) + tanf(x) + expf(x) + logf(x) + powf(x, y) + sqrtf(x);
    r += rsqrtf(x) + x / y + 1.0f / x + exp2f(x) + log2f(x) + tanhf(x) + erff(x) + fmodf(x, y);
    r += __sinf(x) + __cosf(x) + __expf(x) + __logf(x) + __fdividef(x, y) + __frcp_rn(x);
    r += __fsqrt_rz(x) + __fmaf_ru(x, y, r) + __fadd_rd(x, y) + __fmul_rz(x, y) + hypotf(x, y);
    r += fminf(x, y) + fmaxf(x, -y) + fabsf(x - y) + (isnan(x) ? 1.0f : 2.0f) + ldexpf(x, 3);
    r += isinf(y) ? 4.0f : x > y ? -x : fabsf(y);
    r += fminf(fminf(x, y), r) + atan2f(x, y) + cbrtf(x);
    out[i] = r;
    const double d = wide[i], e = y;
    wide[i] = sin(d) + exp(d) + log(d) + sqrt(d) + d / e + fma(d, e, d) + fabs(d) - fmin(d, e) +
              (d > e ? d : -e) + fmax(d, 2.0) + rsqrt(d) + pow(d, e) + __drcp_rn(d) + fma(d, -e, 1.5);
}

extern "C" __global__ void halves(__half2* out, const __half2* in, __half2 k, const __nv_bfloat162* b,
                                  __nv_bfloat162* c) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const __half2 a = in[2 * i], d = in[2 * i + 1];
    __half2 r = __hfma2(a, d, k);
    r = __hadd2(r, __hmul2(a, k));
    r = __hsub2(r, __habs2(d));
    r = __hfma2(__hneg2(a), __low2half2(d), r);
    r = __hadd2(r, __high2half2(a));
    r = __hfma2_sat(r, a, __float2half2_rn(0.5f));
    if (__hgt(__low2half(a), __high2half(d))) r = __hmul2(r, __float2half2_rn(1.5f));
    r = __hadd2(r, __hlt2(a, d));
    r = __hadd2(r, h2rcp(a));
    if (__hbge2(a, d)) r = __hfma2_relu(r, a, k);
    out[i] = __hmax2(r, __hmin2(a, d));
#if __CUDA_ARCH__ >= 800
    const __nv_bfloat162 p = b[i];
    c[i] = __hfma2(p, p, __hadd2(p, __hmul2(p, __float2bfloat162_rn(0.25f))));
#endif
}

extern "C" __global__ void carries(unsigned* out, const unsigned* in) {
    const int i = threadIdx.x;
    unsigned a = in[4 * i], b = in[4 * i + 1], c = in[4 * i + 2], d = in[4 * i + 3], e, f, g;
    asm("add.cc.u32 %0, %3, %4; addc.cc.u32 %1, %5, %6; addc.u32 %2, %3, 0;"
        : "=r"(e), "=r"(f), "=r"(g) : "r"(a), "r"(b), "r"(c), "r"(d));
    out[4 * i] = e ^ f ^ g;
    asm("sub.cc.u32 %0, %3, %4; subc.cc.u32 %1, %5, %6; subc.u32 %2, %3, 0;"
        : "=r"(e), "=r"(f), "=r"(g) : "r"(a), "r"(b), "r"(c), "r"(d));
    out[4 * i + 1] = e ^ f ^ g;
    asm("mad.lo.cc.u32 %0, %3, %4, %5; madc.hi.cc.u32 %1, %5, %6, %3; madc.lo.u32 %2, %3, %4, 0;"
        : "=r"(e), "=r"(f), "=r"(g) : "r"(a), "r"(b), "r"(c), "r"(d));
    out[4 * i + 2] = e ^ f ^ g;
    asm("bfe.u32 %0, %3, %4, 7; bfi.b32 %1, %4, %5, 3, %6; bfe.s32 %2, %3, 5, 9;"
        : "=r"(e), "=r"(f), "=r"(g) : "r"(a), "r"(b), "r"(c), "r"(d));
    out[4 * i + 3] = e ^ f ^ g;
    asm("bfind.u32 %0, %3; bfind.shiftamt.s32 %1, %4; fns.b32 %2, %5, 0, 3;"
        : "=r"(e), "=r"(f), "=r"(g) : "r"(a), "r"(b), "r"(c), "r"(d));
    out[4 * i] += e ^ f ^ g;
    asm("szext.clamp.s32 %0, %3, 7; bmsk.clamp.b32 %1, %3, %4; lop3.b32 %2, %3, %4, %5, 0x96;"
        : "=r"(e), "=r"(f), "=r"(g) : "r"(a), "r"(b), "r"(c), "r"(d));
    out[4 * i + 1] += e ^ f ^ g;
}
