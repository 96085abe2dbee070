// SPDX-License-Identifier: MIT
// Groups of a cooperative launch that exchange values at a barrier of the whole grid between phases; one phase of a
// launch needs none. What a launch without clusters says of them: clusters of one group.

// What cooperative_groups' grid.sync() does; the header brings 100 KB of names along.
static __device__ void wait_for_grid() {
#ifdef __CUDACC__
    unsigned high, low, before = 0, now;
    asm("mov.u32 %0, %%envreg1;" : "=r"(high));
    asm("mov.u32 %0, %%envreg2;" : "=r"(low));
    const unsigned long long barrier = (static_cast<unsigned long long>(high) << 32 | low) + 4u;
    __syncthreads();
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0u) {
        const unsigned first = blockIdx.x + blockIdx.y + blockIdx.z == 0u;
        const unsigned arrivals = first ? 0x80000001u - gridDim.x * gridDim.y * gridDim.z : 1u;
        asm volatile("atom.add.release.gpu.u32 %0, [%1], %2;" : "=r"(before) : "l"(barrier), "r"(arrivals) : "memory");
        do {
            asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(barrier) : "memory");
        } while (((before ^ now) & 0x80000000u) == 0u);
    }
    __syncthreads();
#endif
}

static __device__ void write_clusters(unsigned* out) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define READ(at, name)                                   \
    {                                                    \
        unsigned word;                                   \
        asm("mov.u32 %0, %%" name ";" : "=r"(word));     \
        out[at] = word;                                  \
    }
    READ(0, "cluster_ctarank")
    READ(1, "cluster_nctarank")
    READ(2, "cluster_ctaid.x")
    READ(3, "cluster_nctaid.y")
    READ(4, "clusterid.x")
    READ(5, "clusterid.y")
    READ(6, "clusterid.z")
    READ(7, "nclusterid.x")
    READ(8, "nclusterid.y")
    READ(9, "nclusterid.z")
    asm volatile("{.reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p;}" : "=r"(out[10]));
#undef READ
#else
    const unsigned words[11] = {0, 1, 0, 1, blockIdx.x, blockIdx.y, blockIdx.z, gridDim.x, gridDim.y, gridDim.z, 0};
    for (int i = 0; i < 11; ++i) out[i] = words[i];
#endif
}

extern "C" __global__ void grid_barrier(unsigned* cells, unsigned* clusters, int n, int absent, int from, int to) {
    const unsigned group = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const unsigned inside = threadIdx.y * blockDim.x + threadIdx.x;
    const int me = static_cast<int>(group * blockDim.x * blockDim.y + inside);
    if (static_cast<int>(group) == absent) return;
    if (from == 0 && inside == 0) write_clusters(clusters + 11u * group);
    for (int phase = from; phase < to; ++phase) {
        const unsigned* const old = cells + phase % 2 * n;
        unsigned* const fresh = cells + (phase + 1) % 2 * n;
        // Groups are at work for different times.
        unsigned value = old[(me * 7 + 11 * phase + 5) % n] ^ old[me] * 2654435761u;
        for (unsigned i = 0; i < (group * 37u + phase) % 50u; ++i) value = value * 1664525u + 1013904223u;
        fresh[me] = value;
        if (phase + 1 < to) wait_for_grid();
    }
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
extern "C" __global__ void __cluster_dims__(2, 3, 1) in_clusters(unsigned* out) {
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    out[blockIdx.x] = rank;
}
#endif
