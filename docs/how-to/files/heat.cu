// SPDX-License-Identifier: MIT
// Heat in a square plate: three kernels, and a check of its own. Arguments: cells a side, steps.
// With -DOFF_BY_ONE, a border is computed that is not there.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#ifdef OFF_BY_ONE
constexpr int border = 0;
#else
constexpr int border = 1;
#endif

__global__ void warm(float* plate, int n) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n) plate[y * n + x] = y == 0 ? 100.f : 0.f;
}

__global__ void step(const float* from, float* to, int n) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - border) return;
    to[y * n + x] = 0.25f * (from[y * n + x - 1] + from[y * n + x + 1] +
                             from[(y - 1) * n + x] + from[(y + 1) * n + x]);
}

__global__ void add_up(const float* plate, float* sum, int cells) {
    __shared__ float part[256];
    float mine = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < cells; i += gridDim.x * 256) mine += plate[i];
    part[threadIdx.x] = mine;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(sum, part[0]);
}

static void require(cudaError_t error, const char* what) {
    if (error == cudaSuccess) return;
    std::printf("%s: %s\n", what, cudaGetErrorString(error));
    std::exit(1);
}

int main(int count, char** words) {
    const int n = count > 1 ? std::atoi(words[1]) : 512;
    const int steps = count > 2 ? std::atoi(words[2]) : 100;
    float *a, *b, *sum;
    require(cudaMalloc(&a, sizeof(float) * n * n), "cudaMalloc");
    require(cudaMalloc(&b, sizeof(float) * n * n), "cudaMalloc");
    require(cudaMalloc(&sum, sizeof(float)), "cudaMalloc");
    require(cudaMemset(sum, 0, sizeof(float)), "cudaMemset");
    const dim3 block(32, 8), grid((n + 31) / 32, (n + 7) / 8);
    warm<<<grid, block>>>(a, n);
    warm<<<grid, block>>>(b, n);
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    cudaEventRecord(begin);
    for (int i = 0; i < steps; ++i) {
        step<<<grid, block>>>(a, b, n);
        std::swap(a, b);
    }
    cudaEventRecord(end);
    add_up<<<32, 256>>>(a, sum, n * n);
    float heat = 0;
    require(cudaMemcpy(&heat, sum, sizeof heat, cudaMemcpyDeviceToHost), "cudaMemcpy");
    float milliseconds = 0;
    cudaEventElapsedTime(&milliseconds, begin, end);

    // The same on the host.
    std::vector<float> x(n * n), y(n * n);
    for (int i = 0; i < n; ++i) x[i] = y[i] = 100;
    for (int i = 0; i < steps; ++i, std::swap(x, y))
        for (int row = 1; row < n - 1; ++row)
            for (int at = row * n + 1; at < row * n + n - 1; ++at)
                y[at] = 0.25f * (x[at - 1] + x[at + 1] + x[at - n] + x[at + n]);
    double expected = 0;
    for (const float one : x) expected += one;
    const bool right = std::fabs(heat - expected) < 1e-4 * expected;
    std::printf("%d steps in %.3f ms, heat %.1f: %s\n", steps, milliseconds, heat,
                right ? "PASS" : "FAIL");
    return right ? 0 : 1;
}
