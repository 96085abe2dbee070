// SPDX-License-Identifier: MIT
// A separable convolution (the SDK's): rows, then columns, eight results per thread, the filter in
// constant memory as the host program copies it there.

#define RADIUS 6
#define RESULTS 4
#define BX 16
#define BY 4

__constant__ float filter[2 * RADIUS + 1];

extern "C" __global__ void convolution_rows(const float* in, float* out, int width) {
    __shared__ float line[BY][(RESULTS + 2) * BX];
    const int x0 = blockIdx.x * RESULTS * BX - BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
#pragma unroll
    for (int i = 0; i < RESULTS + 2; ++i) {
        const int x = x0 + i * BX;
        line[threadIdx.y][threadIdx.x + i * BX] = x >= 0 && x < width ? in[y * width + x] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int i = 1; i <= RESULTS; ++i) {
        float sum = 0;
#pragma unroll
        for (int j = -RADIUS; j <= RADIUS; ++j) sum += filter[RADIUS - j] * line[threadIdx.y][threadIdx.x + i * BX + j];
        if (x0 + i * BX < width) out[y * width + x0 + i * BX] = sum;
    }
}

extern "C" __global__ void convolution_columns(const float* in, float* out, int width, int height) {
    __shared__ float column[BX][(RESULTS + 4) * BY + 1];
    const int x = blockIdx.x * BX + threadIdx.x, y0 = blockIdx.y * RESULTS * BY - 2 * BY + threadIdx.y;
    if (x >= width) return;
    for (int i = 0; i < RESULTS + 4; ++i) {
        const int y = y0 + i * BY;
        column[threadIdx.x][threadIdx.y + i * BY] = y >= 0 && y < height ? in[y * width + x] : 0.0f;
    }
    __syncthreads();
    for (int i = 2; i < RESULTS + 2; ++i) {
        float sum = 0;
        for (int j = -RADIUS; j <= RADIUS; ++j) sum += filter[RADIUS - j] * column[threadIdx.x][threadIdx.y + i * BY + j];
        if (y0 + i * BY < height) out[(y0 + i * BY) * width + x] = sum;
    }
}
