// SPDX-License-Identifier: MIT
// Second hand. Threads that leave early, at three places, and those that remain go on with warp operations whose masks name
// just them; loops with different numbers of turns and a second exit; a barrier of the block after whole warps have gone.

extern "C" __global__ void stragglers(const unsigned* in, int count, unsigned* out, unsigned* gone) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    __shared__ unsigned arrived[32];
    if (at >= count)
        return; // the last warps as a whole and a part of one
    const unsigned v = in[at];
    const unsigned present = __ballot_sync(at - lane + 31 < count ? 0xffffffffu : (1u << (count - (at - lane))) - 1u, 1);
    // first exit: multiples of five
    const unsigned fives = __ballot_sync(present, v % 5u == 0u);
    if ((fives >> lane & 1u) != 0u) {
        out[at] = 0x50000000u | static_cast<unsigned>(__popc(fives));
        atomicAdd(&gone[0], 1u);
        return;
    }
    unsigned left = present & ~fives;
    // Collatz with two ends: reaching 1, or exceeding a bound that lets the thread go
    unsigned long long c = (v >> 12) + 3u;
    unsigned turns = 0;
    bool over = false;
    while (c != 1u) {
        c = (c & 1u) != 0u ? 3u * c + 1u : c >> 1;
        if (++turns > 60u && c > 100000u) {
            over = true;
            break;
        }
        if (turns == 250u)
            break;
    }
    const unsigned overs = __ballot_sync(left, over);
    if (over) {
        out[at] = 0x60000000u | turns;
        atomicAdd(&gone[1], 1u);
        return;
    }
    left &= ~overs;
    // a ring of those that are left: each hands to the next living lane
    const unsigned above = left & ~((2u << lane) - 1u);
    const int next = __ffs(static_cast<int>(above != 0u ? above : left)) - 1;
    unsigned token = turns;
    for (int r = 0; r < 5; ++r)
        token = __shfl_sync(left, token, next) * 3u + turns;
    // the sum over the living by rank: a tree on the ranks, places found with popc
    const int rank = __popc(left & ((1u << lane) - 1u)), alive = __popc(left);
    unsigned sum = token;
    for (int d = 1; d < alive; d <<= 1) {
        // lane of the thread d ranks further on
        unsigned rest = left;
        for (int i = 0; i < rank + d && rest != 0u; ++i)
            rest &= rest - 1u;
        const int partner = rest != 0u ? __ffs(static_cast<int>(rest)) - 1 : lane;
        __syncwarp(left);
        const unsigned other = __shfl_sync(left, sum, partner);
        if (rank % (2 * d) == 0 && rank + d < alive)
            sum += other;
    }
    if (rank == 0)
        arrived[threadIdx.x >> 5] = sum;
    __syncwarp(left);
    out[at] = token ^ (arrived[threadIdx.x >> 5] << 5);
}

// Warps 1, 3, 5, … leave; those that stay use the barrier of the block, which does not wait for the ones that are gone.
extern "C" __global__ void half_block(const unsigned* in, unsigned* out) {
    __shared__ unsigned cell[256];
    const unsigned t = threadIdx.x, at = blockIdx.x * blockDim.x + t;
    cell[t] = in[at] >> 1;
    __syncthreads();
    const unsigned borrowed = cell[blockDim.x - 1u - t];
    if ((t >> 5 & 1u) != 0u) {
        out[at] = borrowed;
        return;
    }
    __syncthreads();
    cell[t] += borrowed;
    __syncthreads();
    // the neighbour among those that stayed
    const unsigned rank = (t >> 6) * 32u + (t & 31u), other = (rank + 17u) % (blockDim.x / 2u);
    out[at] = cell[(other / 32u) * 64u + (other & 31u)] * 2u + 1u;
}
