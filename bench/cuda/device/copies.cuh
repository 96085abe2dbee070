// SPDX-License-Identifier: MIT
// A step is one batch of copies and the wait for it; all batches of a warp land in the same place.

#define COPY_TARGET (SHARED_ADDRESS + (threadIdx.x & 127) * 16)
#define CP_ASYNC(step, batch, i) asm volatile("cp.async.cg.shared.global [%0], [%1+%2], 16;" :: "r"(COPY_TARGET), "l"(p), "n"(((step) * (batch) + (i)) * 16 * WARP_SIZE) : "memory");
#define CP_ASYNC_WAIT asm volatile("cp.async.wait_all;" ::: "memory");
#define CP_ASYNC_1(x, step) CP_ASYNC(step, 1, 0) CP_ASYNC_WAIT
#define CP_ASYNC_2(x, step) CP_ASYNC(step, 2, 0) CP_ASYNC(step, 2, 1) CP_ASYNC_WAIT
#define CP_ASYNC_4(x, step) CP_ASYNC(step, 4, 0) CP_ASYNC(step, 4, 1) CP_ASYNC(step, 4, 2) CP_ASYNC(step, 4, 3) CP_ASYNC_WAIT
#define CP_ASYNC_8(x, step) CP_ASYNC(step, 8, 0) CP_ASYNC(step, 8, 1) CP_ASYNC(step, 8, 2) CP_ASYNC(step, 8, 3) CP_ASYNC(step, 8, 4) CP_ASYNC(step, 8, 5) CP_ASYNC(step, 8, 6) CP_ASYNC(step, 8, 7) CP_ASYNC_WAIT

// One lane of each warp asks for the copy; all lanes wait until it has arrived. x is the phase. A
// warp whose copy does not arrive ends there, without stamps.
struct Bulk {
    uint phase;
    uint barrier;
    uint target;
    __device__ __forceinline__ Bulk(uint)
    {
        __shared__ ulong barriers[32];
        phase = 0;
        barrier = (uint)__cvta_generic_to_shared(barriers + LOCAL_WARP);
        target = SHARED_ADDRESS;
#if __CUDA_ARCH__ >= 900
        // Uniform, which the copy needs, and made once: the loop need not make them so.
        barrier = __reduce_max_sync(0xffffffffu, barrier);
        target = __reduce_max_sync(0xffffffffu, target);
        if (LANE == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.mbarrier_init.release.cluster;" :: "r"(barrier) : "memory");
        __syncwarp();
#endif
    }
    __device__ __forceinline__ operator uint() const { return phase; }
};
#define BULK_COPY(bytes, x, step) asm volatile("{ .reg .pred lead, done, more; .reg .u32 looks; setp.eq.u32 lead, %4, 0; @lead mbarrier.arrive.expect_tx.shared.b64 _, [%1], " #bytes "; @lead cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%2], [%3+%5], " #bytes ", [%1]; mov.u32 looks, %6; AGAIN: mbarrier.try_wait.parity.shared.b64 done, [%1], %0; @done bra ARRIVED; sub.u32 looks, looks, 1; setp.ne.u32 more, looks, 0; @more bra AGAIN; exit; ARRIVED: xor.b32 %0, %0, 1; }" : "+r"((x).phase) : "r"((x).barrier), "r"((x).target), "l"(p), "r"(LANE), "n"((step) * (bytes)), "n"(PATIENCE) : "memory")
