// SPDX-License-Identifier: MIT
// A 9-point stencil in two dimensions: a tile with its halo in shared memory, coefficients in
// constant memory, borders clamped.

#define TX 32
#define TY 8

__constant__ float weights[3][3] = {{0.0625f, 0.125f, 0.0625f}, {0.125f, 0.25f, 0.125f}, {0.0625f, 0.125f, 0.0625f}};

extern "C" __global__ void stencil2d(const float* in, float* out, int width, int height) {
    __shared__ float tile[TY + 2][TX + 2];
    const int x0 = blockIdx.x * TX - 1, y0 = blockIdx.y * TY - 1;
    for (int i = threadIdx.y * TX + threadIdx.x; i < (TX + 2) * (TY + 2); i += TX * TY) {
        const int x = min(max(x0 + i % (TX + 2), 0), width - 1), y = min(max(y0 + i / (TX + 2), 0), height - 1);
        tile[i / (TX + 2)][i % (TX + 2)] = in[y * width + x];
    }
    __syncthreads();
    const int x = x0 + 1 + threadIdx.x, y = y0 + 1 + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0;
#pragma unroll
    for (int j = 0; j < 3; ++j) {
#pragma unroll
        for (int i = 0; i < 3; ++i) sum += weights[j][i] * tile[threadIdx.y + j][threadIdx.x + i];
    }
    out[y * width + x] = sum;
}
