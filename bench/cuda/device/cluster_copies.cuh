// SPDX-License-Identifier: MIT
// Two barriers for each warp take turns: a copy for the next step may arrive at a neighbour that
// has not yet seen this one's, and must not count for it. Each warp of a group works with the same
// one of the neighbour.

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
