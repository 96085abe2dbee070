// SPDX-License-Identifier: MIT
#include "bench/cuda/cluster_macros.h"

namespace occupipe::bench {
namespace {

// Clusters of two groups. `other` is 1 for the neighbour's shared memory, 0 for the own one, by the
// same kind of address. A group must not end while its neighbour may still come to its memory:
// whatever uses that meets the neighbour when the kernel's variables end.
constexpr const char* neighbours = R"(
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
)";

// Two barriers for each warp take turns: a copy for the next step may arrive at a neighbour that
// has not yet seen this one's, and must not count for it. Each warp of a group works with the same
// one of the neighbour.
constexpr const char* bulk_copies = R"(
__device__ __forceinline__ uint uniform(uint value)
{
#if __CUDA_ARCH__ >= 800
    value = __reduce_max_sync(0xffffffffu, value);
#endif
    return value;
}
struct ClusterBulk {
    uint phase;
    uint barrier;
    uint neighbour_target;
    uint neighbour_barrier;
    uint half;
    __device__ __forceinline__ ClusterBulk(uint)
    {
        __shared__ ulong cluster_barriers[64];
        phase = 0;
        // Uniform, which the copy needs, and made once: the loop need not make them so.
        barrier = uniform((uint)__cvta_generic_to_shared(cluster_barriers + LOCAL_WARP * 2));
        neighbour_target = uniform(cluster_address(SHARED_ADDRESS, cluster_rank() ^ 1));
        neighbour_barrier = uniform(cluster_address(barrier, cluster_rank() ^ 1));
        half = cluster_rank();
        if (LANE == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1; mbarrier.init.shared.b64 [%0+8], 1; fence.mbarrier_init.release.cluster;" :: "r"(barrier) : "memory");
        CLUSTER_BARRIER(0);
    }
    __device__ __forceinline__ ~ClusterBulk() { CLUSTER_BARRIER(0); }
    __device__ __forceinline__ operator uint() const { return phase; }
};
// A warp that has looked so often in vain ends without leaving stamps.
#define CLUSTER_BULK_WAIT "mov.u32 looks, 0; AGAIN: mbarrier.try_wait.parity.shared.b64 done, [%1+%2], %0; @done bra ARRIVED; add.u32 looks, looks, 1; setp.lt.u32 again, looks, %7; @again bra AGAIN; exit; ARRIVED: "
// Each group asks for its half of the bytes, for both.
#define BULK_MULTICAST(bytes, x, step) asm volatile("{ .reg .pred lead, done, again; .reg .b32 looks; .reg .b16 both; mov.b16 both, 3; setp.eq.u32 lead, %5, 0; @lead mbarrier.arrive.expect_tx.shared.b64 _, [%1+%2], " #bytes "; @lead cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%3], [%4], %6, [%1+%2], both; " CLUSTER_BULK_WAIT "}" :: "r"((x).phase), "r"((x).barrier), "n"(((step) & 1) * 8), "r"(SHARED_ADDRESS + (x).half * ((bytes) / 2)), "l"((const char*)p + (step) * (bytes) + (x).half * ((bytes) / 2)), "r"(LANE), "n"((bytes) / 2), "n"(PATIENCE) : "memory"); (x).phase ^= (step) & 1
// Each group sends its bytes to the other.
#define BULK_TO_NEIGHBOUR(bytes, x, step) asm volatile("{ .reg .pred lead, done, again; .reg .b32 looks; setp.eq.u32 lead, %6, 0; @lead mbarrier.arrive.expect_tx.shared.b64 _, [%1+%2], " #bytes "; @lead cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%3], [%4], " #bytes ", [%5+%2]; " CLUSTER_BULK_WAIT "}" :: "r"((x).phase), "r"((x).barrier), "n"(((step) & 1) * 8), "r"((x).neighbour_target), "r"(SHARED_ADDRESS + (bytes)), "r"((x).neighbour_barrier), "r"(LANE), "n"(PATIENCE) : "memory"); (x).phase ^= (step) & 1
)";

}  // namespace

std::string cuda_cluster_macros() { return std::string(neighbours) + bulk_copies; }

}  // namespace occupipe::bench
