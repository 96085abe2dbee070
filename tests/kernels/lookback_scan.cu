// SPDX-License-Identifier: MIT
// Second hand. Blocks that wait for earlier blocks: a scan in one pass with decoupled look-back (Merrill and Garland 2016): a
// block takes its number from a counter, publishes its sum, and walks back over the published states of its
// predecessors. State and value share one 64-bit word. Second kernel: the last block to finish adds up what all blocks
// left in memory (the threadFenceReduction sample's pattern), told by atomicInc, which also resets the counter.

typedef unsigned long long u64;

enum : unsigned { nothing = 0u, aggregate = 1u, prefix = 2u };

static __device__ __forceinline__ u64 load_state(volatile u64* p) { return *p; }

extern "C" __global__ void lookback_scan(const unsigned* in, unsigned* out, volatile u64* states, unsigned* counter) {
    __shared__ unsigned number, before, warp_sums[8];
    const unsigned t = threadIdx.x, lane = t & 31u, warp = t >> 5;
    if (t == 0u)
        number = atomicAdd(counter, 1u);
    __syncthreads();
    const unsigned at = number * blockDim.x + t, v = in[at];
    unsigned scan = v;
    for (unsigned d = 1; d < 32u; d <<= 1) {
        const unsigned below = __shfl_up_sync(0xffffffffu, scan, d);
        scan += lane >= d ? below : 0u;
    }
    if (lane == 31u)
        warp_sums[warp] = scan;
    __syncthreads();
    unsigned earlier = 0, total = 0;
    for (unsigned w = 0; w < blockDim.x / 32u; ++w) {
        earlier += w < warp ? warp_sums[w] : 0u;
        total += warp_sums[w];
    }
    if (t == 0u) {
        if (number == 0u) {
            states[0] = static_cast<u64>(prefix) << 32 | total;
            before = 0u;
        } else {
            states[number] = static_cast<u64>(aggregate) << 32 | total;
            unsigned sum = 0;
            for (unsigned i = number; i-- > 0u;) {
                u64 s;
                do
                    s = load_state(states + i);
                while (s >> 32 == nothing);
                sum += static_cast<unsigned>(s);
                if (s >> 32 == prefix)
                    break;
            }
            __threadfence();
            states[number] = static_cast<u64>(prefix) << 32 | (total + sum);
            before = sum;
        }
    }
    __syncthreads();
    out[at] = before + earlier + scan;
}

extern "C" __global__ void last_block(const int* in, int per_block, volatile long long* partial, unsigned* counter, long long* result) {
    __shared__ long long sums[128];
    __shared__ bool is_last;
    const int t = threadIdx.x;
    long long sum = 0;
    for (int i = t; i < per_block; i += 128)
        sum += static_cast<long long>(in[blockIdx.x * per_block + i]) * (i + 1);
    sums[t] = sum;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half)
            sums[t] += sums[t + half];
        __syncthreads();
    }
    if (t == 0) {
        partial[blockIdx.x] = sums[0];
        __threadfence();
        is_last = atomicInc(counter, gridDim.x - 1u) == gridDim.x - 1u;
    }
    __syncthreads();
    if (is_last) {
        long long all = 0;
        for (unsigned b = t; b < gridDim.x; b += 128u)
            all += partial[b] * static_cast<long long>(b + 1u);
        sums[t] = all;
        __syncthreads();
        if (t < 2) {
            long long r = 0;
            for (int i = t; i < 128; i += 2)
                r ^= sums[i] * 3 + i;
            result[t] = r;
        }
    }
}
