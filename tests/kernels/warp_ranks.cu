// SPDX-License-Identifier: MIT
// Second hand. Code of warps only, no barrier of the block: a bitonic sort of 64-bit keys over the lanes, a compaction by
// votes, groups of equal values by match and by a loop of leaders, scans and sums by shuffles of every mode.

typedef unsigned long long key_t64;

static __device__ __forceinline__ key_t64 shuffle_xor(key_t64 v, int mask) {
    const unsigned low = __shfl_xor_sync(0xffffffffu, static_cast<unsigned>(v), mask);
    const unsigned high = __shfl_xor_sync(0xffffffffu, static_cast<unsigned>(v >> 32), mask);
    return static_cast<key_t64>(high) << 32 | low;
}

extern "C" __global__ void warp_sort(const key_t64* in, key_t64* out) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    key_t64 v = in[at];
#pragma unroll
    for (int size = 2; size <= 32; size <<= 1) {
#pragma unroll
        for (int step = size >> 1; step > 0; step >>= 1) {
            const key_t64 other = shuffle_xor(v, step);
            const bool up = (lane & size) == 0, lower = (lane & step) == 0;
            v = (v < other) == (up == lower) ? v : other;
        }
    }
    out[at] = v;
}

// Values that pass a test move to the front of the warp's 32 places, the others behind in reverse; counts per warp.
extern "C" __global__ void warp_partition(const unsigned* in, unsigned threshold, unsigned* out, unsigned* counts) {
    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31u, base = at & ~31u;
    const unsigned v = in[at];
    const unsigned votes = __ballot_sync(0xffffffffu, v < threshold);
    const unsigned before = __popc(votes & ((1u << lane) - 1u));
    const unsigned place = (votes >> lane & 1u) != 0u ? before : 31u - (lane - before);
    out[base + place] = v;
    if (lane == 0u) {
        const unsigned warp = at >> 5;
        counts[warp] = __popc(votes);
    }
    const int all = __all_sync(0xffffffffu, v != 0u), any = __any_sync(0xffffffffu, v % 1000u == 0u);
    const int equal = __match_any_sync(0xffffffffu, v & 1u) == 0xffffffffu;
    if (lane == 31u)
        counts[gridDim.x * blockDim.x / 32u + (at >> 5)] = static_cast<unsigned>(all) | static_cast<unsigned>(any) << 1 | static_cast<unsigned>(equal) << 2;
}

// Histogram of 16 values over a warp: the lanes of one value add up among themselves; every group runs its own loop.
extern "C" __global__ void warp_groups(const unsigned* in, unsigned* sum, unsigned* low, unsigned* rank) {
    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31u;
    const unsigned v = in[at], key = v >> 28;
    const unsigned peers = __match_any_sync(0xffffffffu, key);
    const unsigned leader = __ffs(static_cast<int>(peers)) - 1u;
    unsigned total = 0, smallest = 0xffffffffu;
    // a walk over the peers, each group with its own number of turns and its own mask
    for (unsigned left = peers; left != 0u; left &= left - 1u) {
        const int from = __ffs(static_cast<int>(left)) - 1;
        const unsigned theirs = __shfl_sync(peers, v, from);
        total += theirs & 0xffffffu;
        smallest = theirs < smallest ? theirs : smallest;
    }
    rank[at] = __popc(peers & ((1u << lane) - 1u)) | leader << 8 | __popc(peers) << 16;
    sum[at] = total;
    low[at] = smallest;
    // the same, by a loop of elections: one group leaves per turn
    unsigned done = 0, turns = 0;
    while (true) {
        const unsigned waiting = __ballot_sync(0xffffffffu, done == 0u);
        if (waiting == 0u)
            break;
        const int chosen = __ffs(static_cast<int>(waiting)) - 1;
        const unsigned called = __shfl_sync(0xffffffffu, key, chosen);
        ++turns;
        if (called == key)
            done = turns;
    }
    rank[at] |= done << 24;
}

extern "C" __global__ void warp_scans(const int* in, int* inclusive, int* widths, unsigned* reduced) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    const int v = in[at] % 100000;
    int scan = v;
    for (int d = 1; d < 32; d <<= 1) {
        const int below = __shfl_up_sync(0xffffffffu, scan, d);
        if (lane >= d)
            scan += below;
    }
    inclusive[at] = scan;
    // segments of 8 lanes: a down shuffle keeps to its segment and returns the own value at its end
    int w = v;
    for (int d = 4; d > 0; d >>= 1)
        w += __shfl_down_sync(0xffffffffu, w, d, 8);
    const int first = __shfl_sync(0xffffffffu, w, 0, 8);
    const int mixed = __shfl_sync(0xffffffffu, v, lane * 5 + 3, 16);
    widths[2 * at] = w;
    widths[2 * at + 1] = first ^ mixed;
    unsigned total, least, united;
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    total = __reduce_add_sync(0xffffffffu, static_cast<unsigned>(v));
    least = static_cast<unsigned>(__reduce_min_sync(0xffffffffu, v));
    united = __reduce_or_sync(0xffffffffu, static_cast<unsigned>(v));
#else
    total = static_cast<unsigned>(v);
    least = static_cast<unsigned>(v);
    united = static_cast<unsigned>(v);
    for (int d = 16; d > 0; d >>= 1) {
        total += __shfl_xor_sync(0xffffffffu, total, d);
        const int other = static_cast<int>(__shfl_xor_sync(0xffffffffu, least, d));
        least = other < static_cast<int>(least) ? static_cast<unsigned>(other) : least;
        united |= __shfl_xor_sync(0xffffffffu, united, d);
    }
#endif
    // halves of the warp with masks of their own, after different work
    if (lane < 16) {
        const unsigned half = __ballot_sync(0x0000ffffu, (v & 4) != 0);
        total ^= half << 3;
    } else {
        int odd = 0;
        for (int i = 0; i < (lane & 3); ++i)
            odd += v >> i;
        const unsigned half = __ballot_sync(0xffff0000u, (odd & 1) != 0);
        total ^= half;
    }
    reduced[3 * at] = total;
    reduced[3 * at + 1] = least;
    reduced[3 * at + 2] = united;
}
