// SPDX-License-Identifier: MIT
// A 64-bit index needs no widening between the load that gives it and the load that uses it.
//
// One launch is one timed pass: the event timer covers the whole kernel, an untimed launch has
// warmed the caches, and the slope over depths removes what stands outside the loop.

#if __OPENCL_VERSION__ < 120 || defined(cl_khr_fp64)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#pragma OPENCL FP_CONTRACT OFF
#define BARE_KERNEL(TYPE) KERNEL(TYPE)
#define KERNEL(TYPE) __kernel void occupipe_kernel(__global const TYPE* restrict in, __global TYPE* restrict out, __global ulong* restrict stamps, int iterations, uint start, __local uint* shared)
#define THREAD get_global_id(0)
#define OPERANDS_AT(TYPE, offset) ((__global const TYPE*)((__global const char*)in + (offset)))
#define INDEX size_t
#define WARP ((uint)(get_global_id(0) / WARP_SIZE))
#define WARPS ((uint)((get_global_size(0) + WARP_SIZE - 1) / WARP_SIZE))
#define LANE ((uint)(get_local_id(0) % WARP_SIZE))
#define LOCAL_WARP ((uint)(get_local_id(0) / WARP_SIZE))
#define JOINED(TYPE, value) ((TYPE)(value))
#define TIMED_BEGIN {
#define TIMED_END(results) }
#define LOOP(i, n) _Pragma("unroll 1") for (int i = 0; i < (n); ++i)

#define ADD_F32(x, a) x = x + a; FENCE_F32(x)
#define MUL_F32(x, a) x = x * a; FENCE_F32(x)
#define FMA_F32(x, a, b) x = fma(x, a, b); FENCE_F32(x)
#define DIV_F32(x, a) x = a / x; FENCE_F32(x)
#define SQRT_F32(x) x = sqrt(x); FENCE_F32(x)
#define COS_APPROX_F32(x) x = native_cos(x); FENCE_F32(x)
#define EX2_APPROX_F32(x) x = native_exp2(-x); FENCE_F32(x)
#define RSQRT_APPROX_F32(x) x = native_rsqrt(x); FENCE_F32(x)
#define ADD_F64(x, a) x = x + a; FENCE_F64(x)
#define MUL_F64(x, a) x = x * a; FENCE_F64(x)
#define FMA_F64(x, a, b) x = fma(x, a, b); FENCE_F64(x)
#define DIV_F64(x, a) x = a / x; FENCE_F64(x)
#define SQRT_F64(x) x = sqrt(x); FENCE_F64(x)
#define ADD_S32(x, a) x = x + a; FENCE_32(x)
#define MUL_S32(x, a) x = x * a; FENCE_32(x)
#define MAD_S32(x, a, b) x = x * a + b; FENCE_32(x)
#define DIV_S32(x, a) x = a / x; FENCE_32(x)
#define SHL_B32(x, a) x = x << a; FENCE_32(x)
#define XOR_B32(x, a) x = x ^ a; FENCE_32(x)
#define AND_B32(x, a) x = x & a; FENCE_32(x)

#define SHARED_RING(words, stride) for (uint w = get_local_id(0); w < words; w += get_local_size(0)) shared[w] = (w + (stride) * RING_STRIDE) & (words - 1); barrier(CLK_LOCAL_MEM_FENCE)
#define SHARED_START(words, lane, spread, chains, chain) (((lane) + (LOCAL_WARP * chains + chain) * WARP_SIZE * (spread)) & (words - 1))
#define LD_SHARED_U32(x) x = shared[x]; FENCE_INDEX(x)

// Each word holds the index of another one a cache line of a CPU further on.
#define CONSTANT_WORDS __constant uint constant_words[64] = { WORDS_16(16), WORDS_16(32), WORDS_16(48), WORDS_16(0) }
#define WORDS_16(at) WORDS_4(at), WORDS_4(at + 4), WORDS_4(at + 8), WORDS_4(at + 12)
#define WORDS_4(at) at, at + 1, at + 2, at + 3
#define PRIVATE_WORDS uint private_words[64]; for (uint w = 0; w < 64; ++w) private_words[w] = (w + 16) & 63

#define CHASE_SPACING(chains) max(1u, TABLE_LINES / (WARPS * (chains)))
#define CHASE_START(lane, chains, chain) ((((start + (WARP * chains + chain) * CHASE_SPACING(chains)) & (TABLE_LINES - 1)) * LINE_WORDS) + (lane))
#define LD_GLOBAL_U32(x) x = in[x]; FENCE_INDEX(x)

#define STREAM_START() (((start + WARP * (TABLE_LINES / WARPS)) & (TABLE_LINES - 1)) * LINE_WORDS)
#define STREAM_POINTER(position, lane) __global const float* p = OPERANDS_AT(float, 0) + (position & (TABLE_WORDS - 1)) + (lane);
#define STREAM_ADVANCE(position, steps) position += (steps) * WARP_SIZE
#define LD_GLOBAL_F32(x, step) x = x + p[(step) * WARP_SIZE]; FENCE_F32(x)

#define EMPTY_LOOP(x) FENCE_32(x)
#define BAR_SYNC(x) barrier(CLK_LOCAL_MEM_FENCE)
