// SPDX-License-Identifier: MIT
// Launches of one shape on 2 MB of a large allocation: the first finds caches empty. Others differ
// by an argument, or go back and forth between two buffers of which caches hold one.
#include "check.h"

__global__ void scale(float* out, const float* in) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 2 * in[i];
}

__global__ void gather(float* out, const float* in, int stride, int mask) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i * stride & mask];
}

__global__ void copy(float* out, const float* in) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];
}

int main() {
    constexpr int groups = 1024, threads = 256, n = groups * threads;
    float* pool = nullptr;
    OK(cudaMalloc(&pool, 64 << 20));
    for (int i = 0; i < 4; ++i) scale<<<groups, threads>>>(pool, pool + 8 * n);
    for (int i = 0; i < 6; ++i)
        gather<<<groups, threads>>>(pool, pool + 8 * n, i % 2 == 0 ? 1 : 32, n - 1);
    float *a = nullptr, *b = nullptr;
    OK(cudaMalloc(&a, n * sizeof(float)));
    OK(cudaMalloc(&b, n * sizeof(float)));
    const auto empty_caches = [&] { OK(cudaMemset(pool, 0, 64 << 20)); };
    empty_caches();
    OK(cudaMemset(a, 0, n * sizeof(float)));
    copy<<<groups, threads>>>(b, a);  // reads what caches hold
    empty_caches();
    copy<<<groups, threads>>>(a, b);
    empty_caches();
    OK(cudaMemset(b, 0, n * sizeof(float)));
    copy<<<groups, threads>>>(b, a);  // writes what caches hold
    OK(cudaDeviceSynchronize());
    std::puts("PASS");
}
