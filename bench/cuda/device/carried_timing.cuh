// SPDX-License-Identifier: MIT
// In place of the prelude's own: what needs nothing but clock, barrier and the special registers.

#undef KERNEL
#define KERNEL(TYPE) extern "C" __global__ void occupipe_kernel(const TYPE* __restrict__ operands, TYPE* __restrict__ out, uint* __restrict__ stamps, int all_iterations, uint start)

__device__ __forceinline__ uint clock_now()
{
    uint value;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(value) :: "memory");
    return value;
}

__device__ __forceinline__ void leave_times(uint* stamps, uint start, uint stop)
{
    if (LANE != 0) return;
    uint* stamp = stamps + WARP * CARRIED_STAMP_WORDS;
    stamp[0] = start;
    stamp[1] = stop;
#if PLACEMENT
    stamp[2] = core_number();
    stamp[3] = warp_slot();
#endif
}

#undef LEAVE_CHECKPOINTS
#define LEAVE_CHECKPOINTS                                                                    \
    leave_checkpoints(stamps + WARP * CARRIED_STAMP_WORDS + 4, checkpoint_1, checkpoint_2, checkpoint_3);

#undef TIMED_BEGIN
#define TIMED_BEGIN                                                                          \
    uint clock_start = 0, clock_stop = 0;                                                    \
    asm volatile(".reg .pred go; setp.ne.u32 go, %0, 0x7fffffff;" :: "r"(all_iterations));   \
    _Pragma("unroll 1") for (int pass = 0; pass < 2; ++pass) {                               \
        const int iterations = pass == 0 ? WARM_ITERATIONS(all_iterations) : all_iterations; \
        __syncthreads();                                                                     \
        __syncthreads(); /* as in kernel.cuh */                                              \
        clock_start = clock_now();

#undef TIMED_END
#define TIMED_END(results)                                                                   \
        need_result(results);                                                                \
        clock_stop = clock_now();                                                            \
    }                                                                                        \
    leave_times(stamps, clock_start, clock_stop);
