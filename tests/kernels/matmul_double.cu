// SPDX-License-Identifier: MIT
// C += A·B in double precision: matrix units where the architecture has them, else the same tile
// with fused multiply-adds and shuffles. A warp computes 8×8 of C.

#if defined(__CUDACC__)
__device__ __forceinline__ void multiply(double* c, double a, double b) {
#if __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1},{%2},{%3},{%0,%1};"
                 : "+d"(c[0]), "+d"(c[1]) : "d"(a), "d"(b));
#else
    const int lane = threadIdx.x % 32;
    for (int k = 0; k < 4; ++k) {
        const double left = __shfl_sync(0xffffffffu, a, lane / 4 * 4 + k);
        for (int j = 0; j < 2; ++j) {
            c[j] = fma(left, __shfl_sync(0xffffffffu, b, (lane % 4 * 2 + j) * 4 + k), c[j]);
        }
    }
#endif
}
#else
inline void multiply(double* c, double a, double b) { on_host::mma<8, 8, 4, double, double>(c, &a, &b); }
#endif

extern "C" __global__ void matmul_double(const double* a, const double* b, double* c, int n, int k) {
    const int lane = threadIdx.x % 32;
    const int row = blockIdx.y * 16 + threadIdx.y * 8 + lane / 4, column0 = blockIdx.x * 8;
    double* to = &c[row * n + column0 + lane % 4 * 2];
    double sum[2] = {to[0], to[1]};
    for (int k0 = 0; k0 < k; k0 += 4) {
        multiply(sum, a[row * k + k0 + lane % 4], b[(k0 + lane % 4) * n + column0 + lane / 4]);
    }
    to[0] = sum[0];
    to[1] = sum[1];
}
