// SPDX-License-Identifier: MIT

#define CLUSTER_KERNEL(TYPE) extern "C" __global__ void __cluster_dims__(2, 1, 1) occupipe_kernel(const TYPE* __restrict__ operands, TYPE* __restrict__ out, ulong* __restrict__ stamps, int all_iterations, uint start)
#define CLUSTER_BARRIER(x) asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory")

// Counts the groups that have come; all groups are resident together. A group that has waited in
// vain once does not wait any more, and its first warp ends without stamps (see need()).
struct GridBarrier {
    ulong target;
    int patience;
    __device__ __forceinline__ GridBarrier(uint) : target(0), patience(50 * PATIENCE) {}
    __device__ __forceinline__ operator uint() const { return patience > 0 ? (uint)target : 0x7fc0deadu; }
};
#define GRID_BARRIER(g)                                                                       \
    {                                                                                         \
        (g).target += gridDim.x;                                                              \
        __syncthreads();                                                                      \
        if (threadIdx.x == 0) {                                                               \
            ulong* counter = stamps + STAMPS_BARRIER;                                         \
            asm volatile("red.release.gpu.global.add.u64 [%0], 1;" :: "l"(counter) : "memory"); \
            int looks = (g).patience;                                                         \
            while (looks > 0 && *(volatile ulong*)counter < (g).target) --looks;              \
            if (looks <= 0) (g).patience = 0;                                                 \
            __threadfence();                                                                  \
        }                                                                                     \
        __syncthreads();                                                                      \
    }
