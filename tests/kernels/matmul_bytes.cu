// SPDX-License-Identifier: MIT
// C = A·Bᵀ of signed bytes with sums in 32 bits, on matrix units straight from global memory: what
// quantised networks do. A warp computes 16×8 of C.

#ifdef __CUDACC__
__device__ __forceinline__ void multiply(int* c, const unsigned* a, const unsigned* b) {
#if __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    for (int i = 0; i < 4; ++i) {
        const int row = i & 1, half = i >> 1;
        asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0,%1},{%2},{%3},{%0,%1};"
                     : "+r"(c[2 * row]), "+r"(c[2 * row + 1]) : "r"(a[2 * half + row]), "r"(b[half]));
    }
#endif
}
#else
inline void multiply(int* c, const unsigned* a, const unsigned* b) { on_host::mma<16, 8, 32, signed char, signed char>(c, a, b); }
#endif

// A is m×k, B is n×k, row by row; m a multiple of 16, n of 8, k of 32.
extern "C" __global__ void matmul_bytes(const signed char* a, const signed char* b, int* c, int m, int n, int k) {
    const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const int tiles = n / 8, row = warp / tiles * 16 + lane / 4;
    int column = warp % tiles * 8;
    if (row - lane / 4 >= m) return;
    int sum[4] = {0, 0, 0, 0};
    for (int k0 = 0; k0 < k; k0 += 32) {
        const int at = k0 + lane % 4 * 4;
        unsigned fa[4], fb[2];
        fa[0] = *(const unsigned*)&a[row * k + at];
        fa[1] = *(const unsigned*)&a[(row + 8) * k + at];
        fa[2] = *(const unsigned*)&a[row * k + at + 16];
        fa[3] = *(const unsigned*)&a[(row + 8) * k + at + 16];
        fb[0] = *(const unsigned*)&b[(column + lane / 4) * k + at];
        fb[1] = *(const unsigned*)&b[(column + lane / 4) * k + at + 16];
        multiply(sum, fa, fb);
    }
    column += lane % 4 * 2;
    c[row * n + column] = sum[0];
    c[row * n + column + 1] = sum[1];
    c[(row + 8) * n + column] = sum[2];
    c[(row + 8) * n + column + 1] = sum[3];
}
