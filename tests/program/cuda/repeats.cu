// SPDX-License-Identifier: MIT
// Launches of one shape on 2 MB of a large allocation: the first finds caches empty. Others differ
// by an argument.
#include "check.h"

__global__ void scale(float* out, const float* in) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 2 * in[i];
}

__global__ void gather(float* out, const float* in, int stride, int mask) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i * stride & mask];
}

int main() {
    constexpr int groups = 1024, threads = 256, n = groups * threads;
    float* pool = nullptr;
    OK(cudaMalloc(&pool, 64 << 20));
    for (int i = 0; i < 4; ++i) scale<<<groups, threads>>>(pool, pool + 8 * n);
    for (int i = 0; i < 6; ++i)
        gather<<<groups, threads>>>(pool, pool + 8 * n, i % 2 == 0 ? 1 : 32, n - 1);
    OK(cudaDeviceSynchronize());
    std::puts("PASS");
}
