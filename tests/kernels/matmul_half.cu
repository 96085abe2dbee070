// SPDX-License-Identifier: MIT
// C = A·B on matrix units: half precision factors, sums in float. Tiles come from shared memory by
// ldmatrix, whose rows are skewed against bank conflicts; four warps compute 32×32 of C.

#include <cuda_fp16.h>

#ifdef __CUDACC__
__device__ __forceinline__ void load_a(unsigned* r, const __half* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3},[%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"((unsigned)__cvta_generic_to_shared(row)) : "memory");
}
__device__ __forceinline__ void load_b(unsigned* r, const __half* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1},[%2];"
                 : "=r"(r[0]), "=r"(r[1]) : "r"((unsigned)__cvta_generic_to_shared(row)) : "memory");
}
__device__ __forceinline__ void multiply(float* c, const unsigned* a, const unsigned* b) {
#if __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    for (int i = 0; i < 2; ++i) {
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5},{%6},{%0,%1,%2,%3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(a[2 * i]), "r"(a[2 * i + 1]), "r"(b[i]));
    }
#endif
}
#else
inline void load_a(unsigned* r, const __half* row) { on_host::ldmatrix<4>(r, row); }
inline void load_b(unsigned* r, const __half* row) { on_host::ldmatrix<2, true>(r, row); }
inline void multiply(float* c, const unsigned* a, const unsigned* b) { on_host::mma<16, 8, 16, __half, __half>(c, a, b); }
#endif

#define SKEW 8

// A is m×k, B is k×n, row by row; m and n multiples of 32, k of 16. 128 threads.
extern "C" __global__ void matmul_half(const __half* a, const __half* b, float* c, int n, int k) {
    __shared__ __align__(16) __half as[32][16 + SKEW];
    __shared__ __align__(16) __half bs[16][32 + SKEW];
    const int t = threadIdx.x, lane = t % 32, warp = t / 32;
    const int row0 = blockIdx.y * 32, column0 = blockIdx.x * 32;
    const int own_row = warp / 2 * 16, own_column = warp % 2 * 16;
    float sum[2][4] = {};
    for (int k0 = 0; k0 < k; k0 += 16) {
        *(uint2*)&as[t / 4][t % 4 * 4] = *(const uint2*)&a[(row0 + t / 4) * k + k0 + t % 4 * 4];
        *(uint2*)&bs[t / 8][t % 8 * 4] = *(const uint2*)&b[(k0 + t / 8) * n + column0 + t % 8 * 4];
        __syncthreads();
        unsigned fa[4], fb[2];
        load_a(fa, &as[own_row + lane % 16][lane / 16 * 8]);
        for (int j = 0; j < 2; ++j) {
            load_b(fb, &bs[lane % 16][own_column + j * 8]);
            multiply(sum[j], fa, fb);
        }
        __syncthreads();
    }
    for (int j = 0; j < 2; ++j) {
        const int row = row0 + own_row + lane / 4, column = column0 + own_column + j * 8 + lane % 4 * 2;
        *(float2*)&c[row * n + column] = make_float2(sum[j][0], sum[j][1]);
        *(float2*)&c[(row + 8) * n + column] = make_float2(sum[j][2], sum[j][3]);
    }
}
