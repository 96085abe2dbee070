// SPDX-License-Identifier: MIT
#include "bench/cuda/prelude.h"

#include <fmt/format.h>

#include "bench/cuda/memory_macros.h"
#include "bench/cuda/stamps.h"
#include "bench/cuda/unit_macros.h"
#include "bench/harness/fresh_lines.h"
#include "bench/kernel/kernel_source.h"

namespace occupipe::bench {
namespace {

// Looks at the start line before a group gives up: some 10 ms, longer than any launch takes to fill
// the GPU, short enough not to look like a hang when groups are not resident together.
constexpr int patience = 20'000;
// From the moment all groups have agreed until they begin [ns]: a few round trips to the
// second-level cache, and more than any step of the global timer known to us; and for each group
// what its look costs the others, since all look at one word. The write queues behind one look of
// each group, and a group's next look behind the others': twice two cycles of the cache at 1 to
// 2 GHz are 2 to 4 ns. Who sees the moment too late all the same counts itself.
constexpr int notice_ns = 10'000;
constexpr int notice_ns_per_group = 10;

constexpr const char* machinery = R"(
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

// All groups of the launch begin together. Each counts itself in; the last to come sets the moment, a
// little ahead by the global timer, and the others wait until they see it: one word, written once,
// so that relaxed loads are enough. An acquire or a fence would empty the first-level cache, which
// the untimed pass has just filled. The release waits for that pass's stores and empties nothing.
__device__ __forceinline__ void start_line(ulong* stamps)
{
    if (threadIdx.x != 0) return;
    ulong* const moment = stamps + STAMPS_BEGIN;
    ulong before, begin = 0;
    asm volatile("atom.release.gpu.global.add.u64 %0, [%1], 1;"
                 : "=l"(before) : "l"(stamps + STAMPS_ARRIVED) : "memory");
    if (before + 1 == gridDim.x) {
        asm volatile("st.relaxed.gpu.global.u64 [%0], %1;"
                     :: "l"(moment), "l"(wall_clock() + NOTICE_NS + NOTICE_NS_PER_GROUP * gridDim.x) : "memory");
    }
    for (int look = 0; look < PATIENCE && begin == 0; ++look) {
        asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(begin) : "l"(moment) : "memory");
    }
    if (begin == 0) {
        atomicAdd(stamps + STAMPS_MISSED, 1);
        return;
    }
    if (wall_clock() > begin) atomicAdd(stamps + STAMPS_LATE, 1);
    for (int look = 0; look < 50 * PATIENCE && wall_clock() < begin; ++look) { }
}

// A warp whose result has this bit pattern (it has none: the pattern is a NaN that no instruction
// makes, and an odd address) ends without leaving stamps. The assembler does not know that, so the
// clock cannot be read before the last result is there.
__device__ __forceinline__ void need(uint bits)
{
    asm volatile("{ .reg .pred never; setp.eq.u32 never, %0, 0x7fc0dead; @never exit; }"
                 :: "r"(bits) : "memory");
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
                                            ulong wall_start, ulong wall_stop)
{
    if (LANE != 0) return;
    ulong* stamp = stamps + STAMPS_HEADER_WORDS + WARP * STAMP_WORDS;
    stamp[0] = start;
    stamp[1] = stop;
    stamp[2] = wall_start;
    stamp[3] = wall_stop;
    stamp[4] = (ulong)warp_slot() << 32 | core_number();
}

// The assembler must not know that all lanes load the same operands: it would keep them in uniform
// registers, and drop exchanges between lanes. The last term is zero.
#define in (operands + threadIdx.x * ((uint)all_iterations >> 31))

#define BARE_KERNEL(TYPE) extern "C" __global__ void occupipe_kernel(const TYPE* __restrict__ operands, TYPE* __restrict__ out, ulong*, int all_iterations, uint start)
#define KERNEL(TYPE) extern "C" __global__ void occupipe_kernel(const TYPE* __restrict__ operands, TYPE* __restrict__ out, ulong* __restrict__ stamps, int all_iterations, uint start)

// The first pass runs a little of the loop untimed, through the same code; chains go on from it.
// The core clock is read nowhere else, so that the receipt finds the timed part between the two.
#define TIMED_BEGIN                                                                          \
    ulong clock_start = 0, clock_stop = 0, wall_start = 0, wall_stop = 0;                    \
    asm volatile(".reg .pred go; setp.ne.u32 go, %0, 0x7fffffff;" :: "r"(all_iterations));   \
    _Pragma("unroll 1") for (int pass = 0; pass < 2; ++pass) {                               \
        const int iterations = pass == 0 ? WARM_ITERATIONS(all_iterations) : all_iterations; \
        __syncthreads();                                                                     \
        if (pass == 1) start_line(stamps);                                                   \
        __syncthreads();                                                                     \
        wall_start = wall_clock();                                                           \
        __syncthreads();                                                                     \
        clock_start = core_clock();

#define LOOP(i, n) _Pragma("unroll 1") for (int i = 0; i < (n); ++i)

#define TIMED_END(results)                                                                   \
        need_result(results);                                                                \
        clock_stop = core_clock();                                                           \
        wall_stop = wall_clock();                                                            \
    }                                                                                        \
    leave_stamp(stamps, clock_start, clock_stop, wall_start, wall_stop);
)";

// Divisions are chained through the divisor: the reciprocal seed of a constant one would leave the
// dependent path.
constexpr const char* arithmetic = R"(
#define ADD_F32(x, a) asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(x) : "f"(a))
#define MUL_F32(x, a) asm volatile("mul.rn.f32 %0, %0, %1;" : "+f"(x) : "f"(a))
#define FMA_F32(x, a, b) asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x) : "f"(a), "f"(b))
#define DIV_F32(x, a) asm volatile("div.rn.f32 %0, %1, %0;" : "+f"(x) : "f"(a))
#define SQRT_F32(x) asm volatile("sqrt.rn.f32 %0, %0;" : "+f"(x))
#define ADD_F64(x, a) asm volatile("add.rn.f64 %0, %0, %1;" : "+d"(x) : "d"(a))
#define MUL_F64(x, a) asm volatile("mul.rn.f64 %0, %0, %1;" : "+d"(x) : "d"(a))
#define FMA_F64(x, a, b) asm volatile("fma.rn.f64 %0, %0, %1, %2;" : "+d"(x) : "d"(a), "d"(b))
#define DIV_F64(x, a) asm volatile("div.rn.f64 %0, %1, %0;" : "+d"(x) : "d"(a))
#define SQRT_F64(x) asm volatile("sqrt.rn.f64 %0, %0;" : "+d"(x))

#define COS_APPROX_F32(x) asm volatile("cos.approx.f32 %0, %0;" : "+f"(x))
#define EX2_APPROX_F32(x) asm volatile("{ .reg .f32 n; neg.f32 n, %0; ex2.approx.f32 %0, n; }" : "+f"(x))
#define EX2_APPROX_FTZ_F32(x) asm volatile("{ .reg .f32 n; neg.f32 n, %0; ex2.approx.ftz.f32 %0, n; }" : "+f"(x))
#define RSQRT_APPROX_F32(x) asm volatile("rsqrt.approx.f32 %0, %0;" : "+f"(x))
#define RSQRT_APPROX_FTZ_F32(x) asm volatile("rsqrt.approx.ftz.f32 %0, %0;" : "+f"(x))

// For rows that bring their own PTX.
#define OP_F(ptx, x, a, b) asm volatile(ptx : "+f"(x) : "f"(a), "f"(b))
#define OP_D(ptx, x, a, b) asm volatile(ptx : "+d"(x) : "d"(a), "d"(b))
#define OP_H(ptx, x, a, b) asm volatile(ptx : "+h"(x) : "h"(a), "h"(b))
#define OP_R(ptx, x, a, b) asm volatile(ptx : "+r"(x) : "r"(a), "r"(b))
#define OP_L(ptx, x, a, b) asm volatile(ptx : "+l"(x) : "l"(a), "l"(b))

// The adder takes three operands: two PTX additions make one machine instruction. A single one
// would be merged with its neighbour, or dealt to the multiply-add pipe instead.
#define ADD_S32(x, a) asm volatile("{ .reg .b32 t; add.u32 t, %0, %1; add.s32 %0, t, %1; }" : "+r"(x) : "r"(a))
#define MAD_S32(x, a, b) asm volatile("mad.lo.s32 %0, %0, %1, %2;" : "+r"(x) : "r"(a), "r"(b))
#define DIV_S32(x, a) asm volatile("div.s32 %0, %1, %0;" : "+r"(x) : "r"(a))
// In a mix a multiplication or shift would merge with an addition behind it.
#define MUL_S32(x, a) asm volatile(GUARD_IN_MIX "mul.lo.s32 %0, %0, %1;" : "+r"(x) : "r"(a))
#define SHL_B32(x, a) asm volatile(GUARD_IN_MIX "shl.b32 %0, %0, %1;" : "+r"(x) : "r"(a))
// Under a predicate that always holds, which the assembler does not know: such a step is not
// merged with its neighbour, and a predicate costs no instruction.
#define XOR_B32(x, a) asm volatile("@go xor.b32 %0, %0, %1;" : "+r"(x) : "r"(a))
#define AND_B32(x, a) asm volatile("@go and.b32 %0, %0, %1;" : "+r"(x) : "r"(a))
)";

// Begins at a step of the global timer, so that the interval is known to one step.
constexpr const char* witness = R"(
extern "C" __global__ void occupipe_witness(ulong* __restrict__ out, ulong nanoseconds)
{
    const ulong before = wall_clock();
    ulong wall = before;
    for (int look = 0; look < 50 * PATIENCE && wall == before; ++look) wall = wall_clock();
    const ulong wall_begin = wall;
    const ulong clock_begin = core_clock();
    ulong clock_end = clock_begin;
    ulong tick = wall - before;
    for (int look = 0; look < 50 * PATIENCE && wall - wall_begin < nanoseconds; ++look) {
        const ulong now = wall_clock();
        clock_end = core_clock();
        if (now != wall && now - wall < tick) tick = now - wall;
        wall = now;
    }
    out[0] = clock_end - clock_begin;
    out[1] = wall - wall_begin;
    out[2] = tick;
}
)";

// What is read is needed: the assembler behind PTX removes loads that nothing needs, whatever
// `volatile` says.
constexpr const char* table_reader = R"(
extern "C" __global__ void occupipe_table_reader(const uint* table, ulong sectors, int each_core, uint* result)
{
    const ulong threads = each_core ? blockDim.x : WARPS * WARP_SIZE;
    // Cores begin at different places, so that they do not all ask the same part of the cache.
    const ulong offset = each_core ? sectors / gridDim.x * blockIdx.x : 0;
    uint sum = 0;
    for (ulong i = each_core ? threadIdx.x : THREAD; i < sectors; i += threads) {
        const ulong sector = i + offset < sectors ? i + offset : i + offset - sectors;
        uint value;
        asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(table + sector * 8));
        sum = sum * 3 + value;
    }
    if (sum == 0x5eed5eedu) *result = sum;
}
)";

// What global_table.cpp makes, on the GPU: tables of gigabytes. `words`: power of two; behind them
// the words that a body may run over. numbers: small floats, for streams; else the addresses of a
// chase in order, or of one that stays in each line (own_lines). `base`: where word 0 is said to
// be.
constexpr const char* table_writer = R"(
extern "C" __global__ void occupipe_table_writer(uint* table, ulong words, ulong slack, uint line_words, uint access_words, uint own_lines, uint numbers, ulong base)
{
    const uint next = own_lines ? 0 : line_words;
    for (ulong i = THREAD; i < words + slack; i += WARPS * WARP_SIZE) {
        if (numbers) {
            uint mixed = (uint)i * 0x9e3779b1u;
            mixed = (mixed ^ mixed >> 15) * 0x85ebca77u;
            table[i] = __float_as_uint((float)(int)(mixed >> 8) * 0x1p-33f - 0x1p-10f);
            continue;
        }
        const uint within = (uint)i & (access_words - 1);
        const ulong to = (i - within + next) & (words - 1);
        table[i] = within == 1 ? (uint)(base + 4 * to >> 32)
                 : within == 0 ? (uint)(base + 4 * to)
                               : (uint)((i + next) & (words - 1));
    }
}
)";

std::string constants(std::size_t table_words, int line_words, int lap_iterations = 0) {
    return fmt::format(
        "#define WARP_SIZE {}u\n"
        "#define TABLE_WORDS {}u\n"
        "#define LINE_WORDS {}u\n"
        "#define TABLE_LINES (TABLE_WORDS / LINE_WORDS)\n"
        "#define TABLE_END ((TABLE_WORDS + {}u) * 4u)\n"
        "#define WARM_ITERATIONS(all) max(min((all), {}), {})\n"
        "#define PATIENCE {}\n"
        "#define NOTICE_NS {}\n"
        "#define NOTICE_NS_PER_GROUP {}\n"
        "#define STAMPS_ARRIVED {}\n"
        "#define STAMPS_MISSED {}\n"
        "#define STAMPS_LATE {}\n"
        "#define STAMPS_BEGIN {}\n"
        "#define STAMPS_BARRIER {}\n"
        "#define STAMPS_HEADER_WORDS {}\n"
        "#define STAMP_WORDS {}\n",
        cuda_warp_size, table_words, line_words, global_table_slack_words, untimed_iterations,
        lap_iterations, patience, notice_ns, notice_ns_per_group,
        offsetof(StampHeader, arrived) / 8, offsetof(StampHeader, missed) / 8,
        offsetof(StampHeader, late) / 8, offsetof(StampHeader, begin) / 8,
        offsetof(StampHeader, barrier) / 8, sizeof(StampHeader) / 8, sizeof(WarpStamp) / 8);
}

}  // namespace

std::string cuda_prelude(std::size_t table_words, int line_words, bool mix, int lap_iterations) {
    return constants(table_words, line_words, lap_iterations) +
           (mix ? "#define GUARD_IN_MIX \"@go \"\n" : "#define GUARD_IN_MIX\n") + machinery +
           arithmetic + cuda_memory_macros() + cuda_unit_macros();
}

std::string cuda_witness_source() { return constants(1, 1) + machinery + witness; }

std::string cuda_table_writer_source() { return constants(1, 1) + machinery + table_writer; }

std::string cuda_table_reader_source() { return constants(1, 1) + machinery + table_reader; }

}  // namespace occupipe::bench
