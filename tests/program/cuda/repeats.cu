// SPDX-License-Identifier: MIT
// Four launches of one shape on 2 MB of a large allocation: the first finds caches empty.
#include "check.h"

__global__ void scale(float* out, const float* in) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 2 * in[i];
}

int main() {
    constexpr int groups = 1024, threads = 256, n = groups * threads;
    float* pool = nullptr;
    OK(cudaMalloc(&pool, 64 << 20));
    for (int i = 0; i < 4; ++i) scale<<<groups, threads>>>(pool, pool + 8 * n);
    OK(cudaDeviceSynchronize());
    std::puts("PASS");
}
