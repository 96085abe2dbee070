// SPDX-License-Identifier: MIT
// Second hand. Warps with different work: two warps fetch and transform, two warps fold, through two buffers in shared
// memory. They meet at named barriers with a count (bar.sync and bar.arrive with a number), never all at once: the
// producers arrive at "full" without waiting and wait at "empty" only. A fifth warp keeps statistics with one more
// barrier and leaves the kernel early.

#ifdef __CUDACC__
static __device__ __forceinline__ void barrier_wait(int id, int threads) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory"); }
static __device__ __forceinline__ void barrier_arrive(int id, int threads) { asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory"); }
#else
using on_host::barrier_arrive;
using on_host::barrier_wait;
#endif

enum { full = 1, empty = 3, notes = 5, buffer_words = 64, workers = 128 };

extern "C" __global__ void pipeline_roles(const unsigned* in, int rounds, unsigned* folded, unsigned* statistics) {
    __shared__ unsigned buffer[2][buffer_words];
    __shared__ unsigned note[64];
    const int role = threadIdx.x / 32, lane = threadIdx.x % 32;
    const unsigned* source = in + blockIdx.x * rounds * buffer_words;
    if (role < 2) {
        const int place = role * 32 + lane;
        unsigned seen = 0;
        for (int r = 0; r < rounds; ++r) {
            const int half = r & 1;
            if (r >= 2)
                barrier_wait(empty + half, workers);
            unsigned v = source[r * buffer_words + place];
            for (unsigned k = v & 7u; k > 0u; --k)
                v = v * 1664525u + 1013904223u;
            buffer[half][place] = v;
            seen ^= v;
            __threadfence_block();
            barrier_arrive(full + half, workers);
        }
        note[place] = seen;
        barrier_arrive(notes, 96);
    } else if (role < 4) {
        const int place = (role - 2) * 32 + lane;
        unsigned sum = 0, turned = 1;
        for (int r = 0; r < rounds; ++r) {
            const int half = r & 1;
            barrier_wait(full + half, workers);
            sum += buffer[half][place] ^ buffer[half][buffer_words - 1 - place];
            turned = turned * 31u + buffer[half][(place * 5 + r) & (buffer_words - 1)];
            if (r + 2 < rounds)
                barrier_arrive(empty + half, workers);
        }
        folded[(blockIdx.x * 64 + place) * 2] = sum;
        folded[(blockIdx.x * 64 + place) * 2 + 1] = turned;
    } else {
        if (lane >= 16 && rounds == 0)
            return;
        barrier_wait(notes, 96);
        unsigned mine = note[lane] ^ note[lane + 32];
        for (int d = 16; d > 0; d >>= 1)
            mine ^= __shfl_xor_sync(0xffffffffu, mine, d);
        if (lane == 0)
            statistics[blockIdx.x] = mine;
    }
}

// Barrier 0 and a counted one at once: each pair of neighbouring warps swaps by a barrier of its own while all warps
// also meet with votes (__syncthreads_or, _and, _count).
extern "C" __global__ void neighbour_barriers(const unsigned* in, unsigned* out, unsigned* votes) {
    __shared__ unsigned cell[256];
    const unsigned t = threadIdx.x, warp = t >> 5;
    unsigned v = in[blockIdx.x * 256u + t];
    for (unsigned turn = 0; turn < 6u; ++turn) {
        cell[t] = v;
        // even turns pair warps 0-1, 2-3, …; odd turns pair 1-2, 3-4, … and the two outer ones
        const unsigned pair = (turn & 1u) == 0u ? warp >> 1 : ((warp + 1u) & 7u) >> 1;
        barrier_wait(static_cast<int>(1u + pair + 4u * (turn & 1u)), 64);
        const unsigned other = (turn & 1u) == 0u ? warp ^ 1u : ((((warp + 1u) & 7u) ^ 1u) - 1u) & 7u;
        const unsigned got = cell[other * 32u + ((t + turn) & 31u)];
        v = v * 5u + got;
        barrier_wait(static_cast<int>(1u + pair + 4u * (turn & 1u)), 64);
    }
    out[blockIdx.x * 256u + t] = v;
    const int odd = __syncthreads_count(static_cast<int>(v & 1u));
    const int any = __syncthreads_or(v % 211u == 0u);
    const int all = __syncthreads_and(v % 211u != 1u);
    if (t == 0u)
        votes[blockIdx.x] = static_cast<unsigned>(odd) | (any != 0 ? 0x10000u : 0u) | (all != 0 ? 0x20000u : 0u);
}
