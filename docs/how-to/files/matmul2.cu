// SPDX-License-Identifier: MIT
// tests/kernels/matmul.cu with two elements of C for each thread, side by side.

#define TILE 16

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float as[TILE][TILE], bs[TILE][2 * TILE];
    const int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * 2 * TILE + threadIdx.x;
    float sum = 0, sum2 = 0;
    for (int k0 = 0; k0 < k; k0 += TILE) {
        as[threadIdx.y][threadIdx.x] = row < m && k0 + threadIdx.x < k ? a[row * k + k0 + threadIdx.x] : 0.0f;
        bs[threadIdx.y][threadIdx.x] = k0 + threadIdx.y < k && column < n ? b[(k0 + threadIdx.y) * n + column] : 0.0f;
        bs[threadIdx.y][threadIdx.x + TILE] = k0 + threadIdx.y < k && column + TILE < n ? b[(k0 + threadIdx.y) * n + column + TILE] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TILE; ++i) {
            sum = fmaf(as[threadIdx.y][i], bs[i][threadIdx.x], sum);
            sum2 = fmaf(as[threadIdx.y][i], bs[i][threadIdx.x + TILE], sum2);
        }
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
    if (row < m && column + TILE < n) c[row * n + column + TILE] = sum2;
}
