// SPDX-License-Identifier: MIT
// One product of 16×8 by each kind of matrix instruction that all architectures from sm_80 on have:
// halves with sums in half, bfloat16, tf32, signed by unsigned bytes. sm_75 has halves and bytes alone.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#ifdef __CUDACC__
__device__ __forceinline__ void half_sums(unsigned* c, const unsigned* a, const unsigned* b) {
#if __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1},{%2,%3,%4,%5},{%6,%7},{%0,%1};"
                 : "+r"(c[0]), "+r"(c[1]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    for (int i = 0; i < 2; ++i)
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1},{%2,%3},{%4},{%0,%1};"
                     : "+r"(c[0]), "+r"(c[1]) : "r"(a[2 * i]), "r"(a[2 * i + 1]), "r"(b[i]));
#endif
}
__device__ __forceinline__ void mixed_bytes(int* c, const unsigned* a, const unsigned* b) {
#if __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k16.row.col.s32.s8.u8.s32 {%0,%1,%2,%3},{%4,%5},{%6},{%0,%1,%2,%3};"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(b[0]));
#else
    for (int i = 0; i < 2; ++i)
        asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32 {%0,%1},{%2},{%3},{%0,%1};"
                     : "+r"(c[2 * i]), "+r"(c[2 * i + 1]) : "r"(a[i]), "r"(b[0]));
#endif
}
#if __CUDA_ARCH__ >= 800
__device__ __forceinline__ void brain(float* c, const unsigned* a, const unsigned* b) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ __forceinline__ void tensor_float(float* c, const unsigned* a, const unsigned* b) {
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
#else
// As halves, which hold whole numbers of this size too; the order of k does not matter.
__device__ __forceinline__ unsigned two_halves(float low, float high) {
    return __half_as_ushort(__float2half_rn(low)) | (unsigned)__half_as_ushort(__float2half_rn(high)) << 16;
}
__device__ __forceinline__ void half_factors(float* c, unsigned a0, unsigned a1, unsigned b) {
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5},{%6},{%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a0), "r"(a1), "r"(b));
}
__device__ __forceinline__ unsigned from_brain(unsigned two) {
    return two_halves(__uint_as_float(two << 16), __uint_as_float(two & 0xffff0000u));
}
__device__ __forceinline__ void brain(float* c, const unsigned* a, const unsigned* b) {
    for (int i = 0; i < 2; ++i) half_factors(c, from_brain(a[2 * i]), from_brain(a[2 * i + 1]), from_brain(b[i]));
}
__device__ __forceinline__ void tensor_float(float* c, const unsigned* a, const unsigned* b) {
    half_factors(c, two_halves(__uint_as_float(a[0]), __uint_as_float(a[2])), two_halves(__uint_as_float(a[1]), __uint_as_float(a[3])),
                 two_halves(__uint_as_float(b[0]), __uint_as_float(b[1])));
}
#endif
#else
inline void half_sums(unsigned* c, const unsigned* a, const unsigned* b) {
    __half sums[4];
    __builtin_memcpy((void*)sums, c, 8);
    on_host::mma<16, 8, 16, __half, __half>(sums, a, b);
    __builtin_memcpy(c, (const void*)sums, 8);
}
inline void mixed_bytes(int* c, const unsigned* a, const unsigned* b) { on_host::mma<16, 8, 16, signed char, unsigned char>(c, a, b); }
inline void brain(float* c, const unsigned* a, const unsigned* b) { on_host::mma<16, 8, 16, __nv_bfloat16, __nv_bfloat16>(c, a, b); }
inline void tensor_float(float* c, const unsigned* a, const unsigned* b) { on_host::mma<16, 8, 8, float, float>(c, a, b); }
#endif

// Factors come as fragments already, 8 words per lane.
extern "C" __global__ void matrix_kinds(const unsigned* halves, const unsigned* brains, const unsigned* floats, const unsigned* bytes,
                                        unsigned* out) {
    const int t = blockIdx.x * 32 + threadIdx.x;
    const unsigned *h = halves + 8 * t, *n = brains + 8 * t, *f = floats + 8 * t, *b = bytes + 8 * t;
    unsigned* to = out + 16 * t;
    unsigned packed[2] = {h[6], h[7]};
    half_sums(packed, h, h + 4);
    to[0] = packed[0];
    to[1] = packed[1];
    int whole[4] = {(int)b[4], (int)b[5], (int)b[6], (int)b[7]};
    mixed_bytes(whole, b, b + 2);
    for (int i = 0; i < 4; ++i) to[2 + i] = whole[i];
    float sum[4] = {1.0f, -2.0f, 3.0f, -4.0f};
    brain(sum, n, n + 4);
    for (int i = 0; i < 4; ++i) to[6 + i] = __float_as_uint(sum[i]);
    tensor_float(sum, f, f + 4);
    for (int i = 0; i < 4; ++i) to[10 + i] = __float_as_uint(sum[i]);
}
