// SPDX-License-Identifier: MIT
// C = A·B on matrix units: factors in half precision, sums in single. Four warps compute 32×32 elements,
// each 16×16; tiles come from shared memory by ldmatrix, whose rows are skewed against bank conflicts.
// OpenCL C has no matrix units: there each thread computes the same elements of C by plain sums.
#include "portable.h"

#define SIDE 32
#define DEPTH 16
#define SKEW 8

#ifndef __OPENCL_VERSION__
DEVICE void load_a(unsigned* r, const unsigned short* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3},[%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"((unsigned)__cvta_generic_to_shared(row)) : "memory");
}
DEVICE void load_b(unsigned* r, const unsigned short* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1},[%2];"
                 : "=r"(r[0]), "=r"(r[1]) : "r"((unsigned)__cvta_generic_to_shared(row)) : "memory");
}
DEVICE void multiply(float* c, const unsigned* a, const unsigned* b) {
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
#endif

// Halves as their bits. Sizes are multiples of 32, k of 16.
KERNEL(128, 1, 1) matmul_mma(GLOBAL const unsigned short* a, GLOBAL const unsigned short* b, GLOBAL float* c, int n, int k ROOM) {
#ifdef __OPENCL_VERSION__
    __local unsigned short as[SIDE][DEPTH + SKEW];
    __local unsigned short bs[DEPTH][SIDE + SKEW];
#else
    __shared__ __align__(16) unsigned short as[SIDE][DEPTH + SKEW];
    __shared__ __align__(16) unsigned short bs[DEPTH][SIDE + SKEW];
#endif
    const int t = LOCAL_X, lane = t % 32, warp = t / 32;
    const int row0 = GROUP_Y * SIDE, column0 = GROUP_X * SIDE;
    const int own_row = warp / 2 * 16, own_column = warp % 2 * 16;
    float sum[2][4];
    for (int j = 0; j < 2; ++j) {
        for (int i = 0; i < 4; ++i) sum[j][i] = 0;
    }
    for (int k0 = 0; k0 < k; k0 += DEPTH) {
        for (int i = 0; i < 4; ++i) {
            as[t / 4][t % 4 * 4 + i] = a[(row0 + t / 4) * k + k0 + t % 4 * 4 + i];
            bs[t / 8][t % 8 * 4 + i] = b[(k0 + t / 8) * n + column0 + t % 8 * 4 + i];
        }
        BARRIER();
#ifdef __OPENCL_VERSION__
        for (int j = 0; j < 2; ++j) {
            for (int i = 0; i < 4; ++i) {
                const int row = own_row + lane / 4 + i / 2 * 8, column = own_column + j * 8 + lane % 4 * 2 + i % 2;
                for (int d = 0; d < DEPTH; ++d)
                    sum[j][i] = FMA(vload_half(d, (__local const half*)as[row]), vload_half(column, (__local const half*)bs[d]), sum[j][i]);
            }
        }
#else
        unsigned fa[4], fb[2];
        load_a(fa, &as[own_row + lane % 16][lane / 16 * 8]);
        for (int j = 0; j < 2; ++j) {
            load_b(fb, &bs[lane % 16][own_column + j * 8]);
            multiply(sum[j], fa, fb);
        }
#endif
        BARRIER();
    }
    for (int j = 0; j < 2; ++j) {
        for (int i = 0; i < 4; ++i) {
            const int row = row0 + own_row + lane / 4 + i / 2 * 8, column = column0 + own_column + j * 8 + lane % 4 * 2 + i % 2;
            c[row * n + column] = sum[j][i];
        }
    }
}
