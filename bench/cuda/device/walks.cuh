// SPDX-License-Identifier: MIT
// Shared memory is walked by address: a ring word holds the address of the next one, so that each
// load's result is the next load's address as it stands. Global memory likewise: a table word holds
// the low half of the next one's address (the host puts the table where the high half is constant).

#define SHARED_ADDRESS ((uint)__cvta_generic_to_shared(shared))
#define SHARED_RING(words, stride) for (uint w = threadIdx.x; w < (words); w += blockDim.x) shared[w] = SHARED_ADDRESS + ((w + (stride) * WARP_SIZE) & ((words) - 1)) * 4; __syncthreads()
#define SHARED_START(words, lane, spread, chains, chain) (SHARED_ADDRESS + (((lane) + (LOCAL_WARP * (chains) + (chain)) * WARP_SIZE * (spread)) & ((words) - 1)) * 4)
#define LD_SHARED_U32(x) asm volatile("ld.shared.u32 %0, [%0];" : "+r"(x) :: "memory")

#define CHASE_SPACING(chains) max(1u, TABLE_LINES / (WARPS * (chains)))
#define CHASE_START(lane, chains, chain) ((uint)(ulong)in + ((((start + (WARP * (chains) + (chain)) * CHASE_SPACING(chains)) & (TABLE_LINES - 1)) * LINE_WORDS) + (lane)) * 4)
#define LD_GLOBAL_U32(x) asm volatile("{ .reg .b64 p; mov.b64 p, {%0, %1}; ld.global.u32 %0, [p]; }" : "+r"(x) : "r"((uint)((ulong)in >> 32)) : "memory")

#define STREAM_START() (((start + WARP * (TABLE_LINES / WARPS)) & (TABLE_LINES - 1)) * LINE_WORDS)
#define STREAM_POINTER(position, lane) const float* p = OPERANDS_AT(float, 0) + (position & (TABLE_WORDS - 1)) + (lane);
#define STREAM_ADVANCE(position, steps) position += (steps) * WARP_SIZE
#define LD_GLOBAL_F32(x, step) asm volatile("{ .reg .f32 t; ld.global.f32 t, [%1+%2]; add.rn.f32 %0, %0, t; }" : "+f"(x) : "l"(p), "n"((step) * 4 * WARP_SIZE) : "memory")

#define BAR_SYNC(x) asm volatile("bar.sync 0;" ::: "memory")
