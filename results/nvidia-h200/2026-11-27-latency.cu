// SPDX-License-Identifier: MIT
// Latency of loads with all misses: mean, spread, and what a barrier of W warps waits for.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>
__device__ __forceinline__ unsigned hash(unsigned x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    x ^= x >> 16;
    return x;
}
// Each warp loads `lines` lines (lanes share them) at a place of its own, waits, and meets the
// others.
template <bool barrier, bool scattered>
__global__ void steps(const unsigned* table, unsigned words_mask, int lines, int n, unsigned seed,
                      unsigned* times, long long* total) {
    const unsigned warp = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32,
                   lane = threadIdx.x % 32;
    const unsigned part = lane / (32 / lines), in_line = lane % (32 / lines);
    unsigned sum = 0;
    const long long begin = clock64();
    for (int i = 0; i < n; ++i) {
        const unsigned key = scattered ? (warp * 4099u + i) * 32 + part : (warp * 4099u + i) * 32;
        unsigned line = hash(key + seed) + (scattered ? 0 : part);
        const unsigned* at = table + ((line * 32u + in_line) & words_mask) + (sum & 0);
        const unsigned t0 = clock();
        unsigned v;
        asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(at) : "memory");
        sum += v;
        asm volatile("" ::"r"(sum) : "memory");
        if (sum == 0x12345678) times[0] = 1;
        const unsigned t1 = clock();
        if (barrier) __syncthreads();
        if (!barrier && lane == 0 && i < 64) times[warp * 64 + i] = t1 - t0;
    }
    const long long end = clock64();
    if (threadIdx.x == 0) total[blockIdx.x] = end - begin;
}
int main() {
    const size_t big = size_t(2) << 30, small = 16 << 20;
    unsigned *table, *times;
    long long* total;
    char* flush;
    cudaMalloc(&table, big);
    cudaMemset(table, 0, big);
    cudaMalloc(&times, 64 << 20);
    cudaMalloc(&total, 1 << 20);
    cudaMalloc(&flush, 240 << 20);
    std::vector<unsigned> t(1 << 20);
    std::vector<long long> sum(4096);
    unsigned seed = 1;
    for (int where = 0; where < 2; ++where) {
        const unsigned mask = (where ? small : big) / 4 - 1;
        for (int groups : {1, 16, 132})
            for (int lines : {1, 2, 4, 8, 32}) {
                if (where)
                    for (int k = 0; k < 2; ++k) cudaMemset(table, 0, small);
                steps<false, true>
                    <<<groups, 32>>>(table, mask, lines, 64, seed += 77777, times, total);
                cudaMemcpy(t.data(), times, groups * 64 * 4, cudaMemcpyDeviceToHost);
                std::sort(t.begin(), t.begin() + groups * 64);
                double m = 0, s = 0;
                const int n = groups * 64;
                for (int i = 0; i < n; ++i) m += t[i] / double(n);
                for (int i = 0; i < n; ++i) s += (t[i] - m) * (t[i] - m) / n;
                printf(
                    "%s latency groups %3d lines %2d: mean %6.1f sigma %6.1f min %u p10 %u p50 %u "
                    "p90 %u p99 %u max %u\n",
                    where ? "L2  " : "DRAM", groups, lines, m, sqrt(s), t[0], t[n / 10], t[n / 2],
                    t[n * 9 / 10], t[n * 99 / 100], t[n - 1]);
            }
        for (int scattered = 0; scattered < 2; ++scattered)
            for (int groups : {1, 16, 132})
                for (int lines : {1, 4, 32})
                    for (int warps : {1, 2, 4, 8, 16, 32}) {
                        if (where)
                            for (int k = 0; k < 2; ++k) cudaMemset(table, 0, small);
                        if (scattered)
                            steps<true, true><<<groups, 32 * warps>>>(table, mask, lines, 256,
                                                                      seed += 77777, times, total);
                        else
                            steps<true, false><<<groups, 32 * warps>>>(table, mask, lines, 256,
                                                                       seed += 77777, times, total);
                        cudaMemcpy(sum.data(), total, groups * 8, cudaMemcpyDeviceToHost);
                        double m = 0;
                        for (int g = 0; g < groups; ++g) m += sum[g] / 256.0 / groups;
                        printf(
                            "%s barrier %s groups %3d lines %2d warps %2d: %7.1f cycles per step\n",
                            where ? "L2  " : "DRAM", scattered ? "scattered" : "adjacent ", groups,
                            lines, warps, m);
                    }
    }
    // Planes: the same place of every plane, as stencils walk.
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
