// SPDX-License-Identifier: MIT
// One group works, and the others wait for it at a barrier of the grid; or nobody waits.
#include <cooperative_groups.h>

#include "check.h"

namespace cg = cooperative_groups;

__device__ unsigned work(unsigned seed, int rounds) {
    for (int r = 0; r < (blockIdx.x == 0 ? rounds : 1); ++r) seed = seed * 1664525U + (seed >> 3);
    return seed;
}

__global__ void waiting(unsigned* out, int rounds) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = work(i + 1, rounds);
    cg::this_grid().sync();
    out[i] += out[0];
}

__global__ void alone(unsigned* out, int rounds) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = work(i + 1, rounds) + out[0];
}

int main() {
    constexpr int groups = 68, threads = 64;
    int rounds = 10000;
    unsigned *out = nullptr, first = 0, last = 0;
    OK(cudaMalloc(&out, groups * threads * sizeof(unsigned)));
    OK(cudaMemset(out, 0, groups * threads * sizeof(unsigned)));
    alone<<<groups, threads>>>(out, rounds);
    OK(cudaMemcpy(&first, out, sizeof(first), cudaMemcpyDeviceToHost));
    void* arguments[] = {&out, &rounds};
    OK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(waiting), groups, threads, arguments));
    OK(cudaMemcpy(&last, out + groups * threads - 1, sizeof(last), cudaMemcpyDeviceToHost));
    std::puts(first != 0 && last != 0 ? "PASS" : "FAIL");
}
