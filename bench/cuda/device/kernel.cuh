// SPDX-License-Identifier: MIT

typedef unsigned short ushort;
typedef unsigned int uint;
#define INDEX uint
typedef unsigned long long ulong;
extern __shared__ uint shared[];
#define OPERANDS_AT(TYPE, offset) ((const TYPE*)((const char*)in + (offset)))

#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)
#define WARP (THREAD / WARP_SIZE)
#define WARPS (gridDim.x * blockDim.x / WARP_SIZE)
#define LANE (threadIdx.x % WARP_SIZE)
#define LOCAL_WARP (threadIdx.x / WARP_SIZE)

__device__ __forceinline__ ulong core_clock()
{
    ulong value;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(value) :: "memory");
    return value;
}

__device__ __forceinline__ ulong wall_clock()
{
    ulong value;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(value) :: "memory");
    return value;
}

__device__ __forceinline__ uint core_number()
{
    uint value;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(value));
    return value;
}

__device__ __forceinline__ uint warp_slot()
{
    uint value;
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(value));
    return value;
}

__device__ __forceinline__ uint short_clock()
{
    uint value;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(value) :: "memory");
    return value;
}

// A warp whose result has this bit pattern (it has none: the pattern is a NaN that no instruction
// makes, and an odd address) ends without leaving stamps. The assembler does not know that, so the
// clock cannot be read before the last result is there.
__device__ __forceinline__ void need(uint bits)
{
    asm volatile("{ .reg .pred never; setp.eq.u32 never, %0, 0x7fc0dead; @never exit; }"
                 :: "r"(bits) : "memory");
}
// The core's clock (upper half) at a moment of the global timer (lower half, [ns]). The core's first
// group reads both, for all of its groups: an H200 answers one reading of the timer in some 35 ns,
// and what waits in that queue is of an old moment.
__device__ __forceinline__ ulong core_anchor(ulong* stamps)
{
    ulong* const anchor = stamps + STAMPS_ANCHORS + core_number() % CORE_ANCHORS;
    ulong seen;
    asm volatile("atom.relaxed.gpu.global.cas.b64 %0, [%1], 0, 1;" : "=l"(seen) : "l"(anchor) : "memory");
    if (seen == 0) {
        const ulong wall = wall_clock();
        need((uint)(wall >> 32));  // the core's clock is read when the answer is there
        seen = (ulong)short_clock() << 32 | (uint)wall | 2;
        asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" :: "l"(anchor), "l"(seen) : "memory");
    }
    for (int look = 0; look < PATIENCE && seen < 2; ++look) {
        asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(seen) : "l"(anchor) : "memory");
    }
    return seen;
}

// All groups of the launch begin together. Each counts itself in; the last to come sets the moment, a
// little ahead by the global timer, and the others wait until they see it: one word, written once,
// so that relaxed loads are enough. An acquire or a fence would empty the first-level cache, which
// the untimed pass has just filled. The release waits for that pass's stores and empties nothing.
// They wait by their core's clock; what that has to do with the global timer goes to the stamp of
// the group's first warp at once, since no register is to hold it in the timed part.
__device__ __forceinline__ void start_line(ulong* stamps)
{
    if (threadIdx.x != 0) return;
    ulong* const moment = stamps + STAMPS_BEGIN;
    ulong before, begin = 0;
    uint rate;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(rate) : "l"(stamps + STAMPS_RATE) : "memory");
    const ulong anchor = core_anchor(stamps);
    stamps[STAMPS_HEADER_WORDS + WARP * STAMP_WORDS + 2] = anchor;
    const uint clock_then = (uint)(anchor >> 32);
    asm volatile("atom.release.gpu.global.add.u64 %0, [%1], 1;"
                 : "=l"(before) : "l"(stamps + STAMPS_ARRIVED) : "memory");
    if (before + 1 == gridDim.x) {
        const uint since = __float2uint_rz(__fdividef((float)(short_clock() - clock_then) * 1024.0f, (float)rate));
        const uint at = (uint)anchor + since + NOTICE_NS + NOTICE_NS_PER_GROUP * gridDim.x;
        asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" :: "l"(moment), "l"(1ull << 32 | at) : "memory");
    }
    for (int look = 0; look < PATIENCE && begin == 0; ++look) {
        asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(begin) : "l"(moment) : "memory");
    }
    if (begin == 0) {
        atomicAdd(stamps + STAMPS_MISSED, 1);
        return;
    }
    const uint wait = (uint)((ulong)((uint)begin - (uint)anchor) * rate >> 10);
    if (short_clock() - clock_then > wait) atomicAdd(stamps + STAMPS_LATE, 1);
    for (int look = 0; look < 50 * PATIENCE && short_clock() - clock_then < wait; ++look) { }
}

__device__ __forceinline__ void need_result(uint value) { need(value); }
__device__ __forceinline__ void need_result(int value) { need((uint)value); }
__device__ __forceinline__ void need_result(long value) { need((uint)(value ^ value >> 32)); }
__device__ __forceinline__ void need_result(float value) { need(__float_as_uint(value)); }
__device__ __forceinline__ void need_result(double value) { need((uint)__double2hiint(value)); }

// Any chain's result as a number that another chain's can be added to.
__device__ __forceinline__ uint bits_of(uint value) { return value; }
__device__ __forceinline__ uint bits_of(int value) { return (uint)value; }
__device__ __forceinline__ uint bits_of(long value) { return (uint)(value ^ value >> 32); }
__device__ __forceinline__ uint bits_of(float value) { return __float_as_uint(value); }
__device__ __forceinline__ uint bits_of(double value) { return (uint)__double2hiint(value); }
#define JOINED(TYPE, value) ((TYPE)bits_of(value))

__device__ __forceinline__ void leave_stamp(ulong* stamps, ulong start, ulong stop,
                                            ulong wall_stop)
{
    if (LANE != 0) return;
    ulong* stamp = stamps + STAMPS_HEADER_WORDS + WARP * STAMP_WORDS;
    stamp[0] = start;
    stamp[1] = stop;
    stamp[3] = wall_stop;
    stamp[4] = (ulong)warp_slot() << 32 | core_number();
}

__device__ __forceinline__ void leave_checkpoints(uint* to, uint first, uint second, uint third)
{
    if (LANE != 0) return;
    to[0] = first;
    to[1] = second;
    to[2] = third;
}

// The assembler must not know that all lanes load the same operands: it would keep them in uniform
// registers, and drop exchanges between lanes. The last term is zero.
#define in (operands + threadIdx.x * ((uint)all_iterations >> 31))

#define BARE_KERNEL(TYPE) extern "C" __global__ void occupipe_kernel(const TYPE* __restrict__ operands, TYPE* __restrict__ out, ulong*, int all_iterations, uint start)
#define KERNEL(TYPE) extern "C" __global__ void occupipe_kernel(const TYPE* __restrict__ operands, TYPE* __restrict__ out, ulong* __restrict__ stamps, int all_iterations, uint start)

// The first pass runs a little of the loop untimed, through the same code; chains go on from it.
// The core clock is read nowhere else, so that the receipt finds the timed part between the two.
// A warp that has come to a barrier may read it before the others are there (BAR.SYNC.DEFER_BLOCKING):
// the second barrier is one to which all come together.
#define TIMED_BEGIN                                                                          \
    ulong clock_start = 0, clock_stop = 0, wall_stop = 0;                                    \
    asm volatile(".reg .pred go; setp.ne.u32 go, %0, 0x7fffffff;" :: "r"(all_iterations));   \
    _Pragma("unroll 1") for (int pass = 0; pass < 2; ++pass) {                               \
        const int iterations = pass == 0 ? WARM_ITERATIONS(all_iterations) : all_iterations; \
        __syncthreads();                                                                     \
        if (pass == 1) start_line(stamps);                                                   \
        __syncthreads();                                                                     \
        __syncthreads();                                                                     \
        clock_start = core_clock();

#define LOOP(i, n) _Pragma("unroll 1") for (int i = 0; i < (n); ++i)

// The loop of a checkpointed kernel, run in equal parts by the same instructions. The clock is read
// as each part begins; the last three readings stay, which are those between the parts. Nothing waits
// for results there: a reading says when the part's last instruction had been issued.
#define CHECKPOINTS_DECLARED uint checkpoint_1 = 0, checkpoint_2 = 0, checkpoint_3 = 0;
#define SEGMENTS_BEGIN                                                                       \
        int segment_iterations = (iterations + SEGMENTS - 1) / SEGMENTS;                     \
        asm volatile("" : "+r"(segment_iterations)); /* not worked out again each time */    \
        _Pragma("unroll 1") for (int segment = 0; segment < SEGMENTS; ++segment) {           \
            checkpoint_1 = checkpoint_2;                                                     \
            checkpoint_2 = checkpoint_3;                                                     \
            checkpoint_3 = short_clock();
#define SEGMENTS_END }
#define LEAVE_CHECKPOINTS                                                                    \
    leave_checkpoints((uint*)(stamps + STAMPS_HEADER_WORDS + WARP * STAMP_WORDS) + STAMP_CHECKPOINTS, \
                      checkpoint_1, checkpoint_2, checkpoint_3);

#define TIMED_END(results)                                                                   \
        need_result(results);                                                                \
        clock_stop = core_clock();                                                           \
        if (threadIdx.x == 0 && blockIdx.x % GROUPS_PER_WALL_STOP == 0) wall_stop = wall_clock(); \
    }                                                                                        \
    leave_stamp(stamps, clock_start, clock_stop, wall_stop);
