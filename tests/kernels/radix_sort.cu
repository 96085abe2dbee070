// SPDX-License-Identifier: MIT
// A pass of a stable radix sort over four bits: groups count digits, one group turns the counts
// into places, and every key goes to its place by its rank among equal digits (ballots in a warp).

#define DIGITS 16
#define THREADS 128

extern "C" __global__ void radix_count(const unsigned* keys, unsigned* counts, int n, int shift) {
    __shared__ unsigned table[DIGITS];
    if (threadIdx.x < DIGITS) table[threadIdx.x] = 0;
    __syncthreads();
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) atomicAdd(&table[keys[i] >> shift & (DIGITS - 1)], 1u);
    __syncthreads();
    if (threadIdx.x < DIGITS) counts[threadIdx.x * gridDim.x + blockIdx.x] = table[threadIdx.x];
}

// One group: counts become the sums of all before them.
extern "C" __global__ void radix_places(unsigned* counts, int n) {
    __shared__ unsigned sums[THREADS / 32], carry;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (threadIdx.x == 0) carry = 0;
    for (int first = 0; first < n; first += THREADS) {
        const int i = first + threadIdx.x;
        const unsigned own = i < n ? counts[i] : 0;
        unsigned sum = own;
        for (int by = 1; by < 32; by *= 2) {
            const unsigned other = __shfl_up_sync(0xffffffffu, sum, by);
            if (lane >= by) sum += other;
        }
        if (lane == 31) sums[warp] = sum;
        __syncthreads();
        unsigned before = carry;
        for (int w = 0; w < warp; ++w) before += sums[w];
        if (i < n) counts[i] = before + sum - own;
        __syncthreads();
        if (threadIdx.x == THREADS - 1) carry = before + sum;
        __syncthreads();
    }
}

extern "C" __global__ void radix_scatter(const unsigned* keys, unsigned* out, const unsigned* places, int n, int shift) {
    __shared__ unsigned seen[THREADS / 32][DIGITS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lane < DIGITS) seen[warp][lane] = 0;
    __syncwarp();
    const int i = blockIdx.x * THREADS + threadIdx.x;
    const bool have = i < n;
    const unsigned key = have ? keys[i] : 0, digit = key >> shift & (DIGITS - 1);
    unsigned same = __ballot_sync(0xffffffffu, have);
    for (int bit = 0; bit < 4; ++bit) {
        const bool set = digit >> bit & 1;
        const unsigned with = __ballot_sync(0xffffffffu, set);
        same &= set ? with : ~with;
    }
    const unsigned rank = __popc(same & ((1u << lane) - 1));
    if (have && rank == 0) seen[warp][digit] = __popc(same);
    __syncthreads();
    if (have) {
        unsigned place = places[digit * gridDim.x + blockIdx.x] + rank;
        for (int w = 0; w < warp; ++w) place += seen[w][digit];
        out[place] = key;
    }
}
