// SPDX-License-Identifier: MIT
// Clusters of two groups. `other` is 1 for the neighbour's shared memory, 0 for the own one, by the
// same kind of address. A group must not end while its neighbour may still come to its memory:
// whatever uses that meets the neighbour when the kernel's variables end.

#define CLUSTER_BARRIER_RELAXED(x) asm volatile("barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;" ::: "memory")
struct ClusterEnd {
    __device__ __forceinline__ ~ClusterEnd() { CLUSTER_BARRIER(0); }
};
__device__ __forceinline__ uint cluster_rank()
{
    uint rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}
// In the cluster's window of shared memory.
__device__ __forceinline__ uint cluster_address(uint address, uint rank)
{
    uint mapped;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(rank));
    return mapped;
}
// As a generic address, which is what the instruction takes: 32 bits would get their upper half
// anew in every step.
__device__ __forceinline__ ulong generic_address(uint mapped)
{
    ulong generic;
    asm volatile("{ .reg .b64 t; cvt.u64.u32 t, %1; cvta.shared::cluster.u64 %0, t; }" : "=l"(generic) : "r"(mapped));
    return generic;
}
#define CLUSTER_RING_WORDS 512
// A word (of 64 bits) holds the address of the one for the same lane 32 words on, in its own group.
#define CLUSTER_RING() for (uint w = threadIdx.x; w < CLUSTER_RING_WORDS; w += blockDim.x) ((ulong*)shared)[w] = generic_address(cluster_address(SHARED_ADDRESS + ((w + 32) % CLUSTER_RING_WORDS) * 8, cluster_rank())); CLUSTER_BARRIER(0)
#define CLUSTER_MEMORY() CLUSTER_BARRIER(0); ClusterEnd cluster_end
template <uint other> struct ClusterWalk {
    ulong address;
    __device__ __forceinline__ ClusterWalk(uint chain) : address(generic_address(cluster_address(SHARED_ADDRESS + ((LANE + (LOCAL_WARP * 8 + chain) * 32) % CLUSTER_RING_WORDS) * 8, cluster_rank() ^ other))) {}
    __device__ __forceinline__ operator uint() const { return (uint)address; }
};
typedef ClusterWalk<0> OwnWalk;
typedef ClusterWalk<1> NeighbourWalk;
#define LD_CLUSTER_U64(x) asm volatile("ld.u64 %0, [%0];" : "+l"((x).address) :: "memory")
// A word (of `words` 32-bit ones) for each lane.
template <uint other, int words> struct ClusterWord {
    ulong address;
    uint value;
    __device__ __forceinline__ ClusterWord(uint bits) : address(generic_address(cluster_address(SHARED_ADDRESS + (threadIdx.x % 256) * 4 * words, cluster_rank() ^ other))), value(bits) {}
    __device__ __forceinline__ operator uint() const { return value; }
};
#define ATOM_CLUSTER(text, x) asm volatile(text : "+r"((x).value) : "l"((x).address) : "memory")
#define RED_CLUSTER(text, x) asm volatile(text :: "l"((x).address), "r"((x).value) : "memory")
#define ST_CLUSTER(text, x, step) asm volatile(text :: "l"((x).address), "n"(((step) & 7) * 1024), "r"((x).value) : "memory")
