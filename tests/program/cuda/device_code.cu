// SPDX-License-Identifier: MIT
// Half precision, inline PTX, tiles of cooperative groups, printf, and a barrier of the grid.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>

#include "check.h"

namespace cg = cooperative_groups;

__global__ void halves(const __half2* x, __half2* y) {
    y[threadIdx.x] = __hfma2(x[threadIdx.x], x[threadIdx.x], __float2half2_rn(0.5f));
}

__global__ void lanes(unsigned* out) {
    unsigned lane, sum;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm("mad.lo.u32 %0, %1, 3, 7;" : "=r"(sum) : "r"(lane));
    out[threadIdx.x] = sum;
    if (threadIdx.x == 33) printf("lane %u of thread %d\n", lane, threadIdx.x);
}

__global__ void tiles(const int* x, int* sums) {
    const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    const int sum = cg::reduce(tile, x[threadIdx.x], cg::plus<int>());
    if (tile.thread_rank() == 0) sums[threadIdx.x / 16] = sum;
}

__global__ void in_turn(int* x, int n) {
    const cg::grid_group grid = cg::this_grid();
    const int i = static_cast<int>(grid.thread_rank());
    if (i < n) x[i] = i;
    grid.sync();
    const int other = i < n ? x[n - 1 - i] : 0;
    grid.sync();
    if (i < n) x[i] = other;
}

// Most groups of a launch have nothing to do.
__global__ void first_of_many(int* words, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) words[i] += i;
}

int main() {
    __half2 *x, *y;
    OK(cudaMallocManaged(&x, 32 * sizeof(__half2)));
    OK(cudaMallocManaged(&y, 32 * sizeof(__half2)));
    for (int i = 0; i < 32; ++i) x[i] = __floats2half2_rn(i, 0.25f * i);
    halves<<<1, 32>>>(x, y);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 32; ++i) EXPECT(__low2float(y[i]) == i * i + 0.5f);

    int* words;
    OK(cudaMallocManaged(&words, 4096));
    lanes<<<1, 64>>>(reinterpret_cast<unsigned*>(words));
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 64; ++i) EXPECT(words[i] == i % 32 * 3 + 7);

    int* sums = words + 512;
    for (int i = 0; i < 64; ++i) words[i] = i;
    tiles<<<1, 64>>>(words, sums);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 4; ++i) EXPECT(sums[i] == 16 * (16 * i) + 120);

    int n = 300;
    void* arguments[] = {&words, &n};
    OK(cudaLaunchCooperativeKernel(in_turn, dim3(5), dim3(64), arguments, 0, nullptr));
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < n; ++i) EXPECT(words[i] == n - 1 - i);
    EXPECT(cudaLaunchCooperativeKernel(in_turn, dim3(100000), dim3(64), arguments, 0, nullptr) ==
           cudaErrorCooperativeLaunchTooLarge);

    for (int i = 0; i < 1024; ++i) words[i] = 1;
    first_of_many<<<200, 128>>>(words, 690);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 1024; ++i) EXPECT(words[i] == (i < 690 ? i + 1 : 1));
    return passed();
}
