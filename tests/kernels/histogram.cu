// SPDX-License-Identifier: MIT
// How often each byte occurs: every warp counts in a table of its own in shared memory (four bytes
// per load), the tables are added, and the group's sums go to global memory, all by atomics.

#define WARPS 4
#define BINS 256

extern "C" __global__ void histogram(const unsigned* words, unsigned* counts, int n) {
    __shared__ unsigned table[WARPS][BINS];
    for (int i = threadIdx.x; i < WARPS * BINS; i += blockDim.x) (&table[0][0])[i] = 0;
    __syncthreads();
    unsigned* own = table[threadIdx.x / 32];
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const unsigned word = words[i];
        atomicAdd(&own[word & 0xff], 1u);
        atomicAdd(&own[word >> 8 & 0xff], 1u);
        atomicAdd(&own[word >> 16 & 0xff], 1u);
        atomicAdd(&own[word >> 24], 1u);
    }
    __syncthreads();
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x) {
        unsigned sum = 0;
        for (int w = 0; w < WARPS; ++w) sum += table[w][bin];
        if (sum) atomicAdd(&counts[bin], sum);
    }
}
