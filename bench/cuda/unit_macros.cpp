// SPDX-License-Identifier: MIT
#include "bench/cuda/unit_macros.h"

#include <fmt/format.h>

#include "bench/cuda/cluster_macros.h"
#include "bench/cuda/matrix_macros.h"

namespace occupipe::bench {
namespace {

// Accumulator fragments: a thread's share of a matrix. Made from one operand's bits, and added up
// into one word for the result, so that no element is dead.
constexpr const char* matrix = R"(
template <typename Element, int count> struct Fragment {
    Element element[count];
    __device__ __forceinline__ Fragment(uint bits)
    {
        _Pragma("unroll") for (int i = 0; i < count; ++i) element[i] = (Element)((bits >> i) & 1);
    }
    __device__ __forceinline__ operator uint() const
    {
        Element sum = element[0];
        _Pragma("unroll") for (int i = 1; i < count; ++i) sum = sum + element[i];
        return (uint)(int)sum;
    }
};
typedef Fragment<float, 4> FragmentF32;
typedef Fragment<uint, 2> FragmentF16;
typedef Fragment<int, 4> FragmentS32;
typedef Fragment<int, 2> FragmentS32Pair;
struct FragmentF64 : Fragment<double, 2> {
    double left, right;
    __device__ __forceinline__ FragmentF64(uint bits)
        : Fragment<double, 2>(bits), left(0.5 + (bits & 1)), right(0.25 + (bits & 2)) {}
};
#define MMA_F32_42(ptx, x, a, b) asm volatile(ptx " {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%5,%5}, {%0,%1,%2,%3};" : "+f"((x).element[0]), "+f"((x).element[1]), "+f"((x).element[2]), "+f"((x).element[3]) : "r"(a), "r"(b))
#define MMA_F32_21(ptx, x, a, b) asm volatile(ptx " {%0,%1,%2,%3}, {%4,%4}, {%5}, {%0,%1,%2,%3};" : "+f"((x).element[0]), "+f"((x).element[1]), "+f"((x).element[2]), "+f"((x).element[3]) : "r"(a), "r"(b))
#define MMA_F16_42(ptx, x, a, b) asm volatile(ptx " {%0,%1}, {%2,%2,%2,%2}, {%3,%3}, {%0,%1};" : "+r"((x).element[0]), "+r"((x).element[1]) : "r"(a), "r"(b))
#define MMA_S32_42(ptx, x, a, b) asm volatile(ptx " {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%5,%5}, {%0,%1,%2,%3};" : "+r"((x).element[0]), "+r"((x).element[1]), "+r"((x).element[2]), "+r"((x).element[3]) : "r"(a), "r"(b))
#define MMA_S32_11(ptx, x, a, b) asm volatile(ptx " {%0,%1}, {%2}, {%3}, {%0,%1};" : "+r"((x).element[0]), "+r"((x).element[1]) : "r"(a), "r"(b))
#define MMA_F64_11(ptx, x) asm volatile(ptx " {%0,%1}, {%2}, {%3}, {%0,%1};" : "+d"((x).element[0]), "+d"((x).element[1]) : "d"((x).left), "d"((x).right))
)";

// Matrices in shared memory, without swizzling: core matrices of 8 rows of 16 bytes lie one after
// the other.
constexpr const char* group_matrix = R"(
#define SHARED_FILL(bytes, value) for (uint w = threadIdx.x; w < (bytes) / 4; w += blockDim.x) shared[w] = (uint)(value); SHARED_FILL_FENCE __syncthreads()
#if __CUDA_ARCH__ >= 900
#define SHARED_FILL_FENCE asm volatile("fence.proxy.async;" ::: "memory");
#else
#define SHARED_FILL_FENCE
#endif
#define MATRIX_DESCRIPTOR(offset) ((ulong)(((SHARED_ADDRESS + (offset)) & 0x3ffff) >> 4) | (ulong)(128 >> 4) << 16 | (ulong)(256 >> 4) << 32)
)";

constexpr const char* atomics = R"(
#define ATOM(text, address_kind, x, address) asm volatile(text : "+r"(x) : address_kind(address) : "memory")
#define OWN_SHARED (SHARED_ADDRESS + (threadIdx.x & 1023) * 4)
#define OWN_GLOBAL (out + THREAD)
#define GROUP_GLOBAL(zero) (out + blockIdx.x * blockDim.x + LANE * (zero))
#define SECTOR_GLOBAL (out + (THREAD & ~31u) + (THREAD & 7))
#define ATOM_SHARED_OWN(text, x) ATOM(text, "r", x, OWN_SHARED)
// The assembler must not know that the lanes' addresses are equal: it would add up their operands
// first. `zero` comes from memory.
#define ATOM_SHARED_SAME(text, x, zero) ATOM(text, "r", x, SHARED_ADDRESS + LANE * (zero))
#define ATOM_GLOBAL_OWN(text, x) ATOM(text, "l", x, OWN_GLOBAL)
#define ATOM_GLOBAL_SAME(text, x, zero) ATOM(text, "l", x, GROUP_GLOBAL(zero))
#define ATOM_GLOBAL_SECTOR(text, x) ATOM(text, "l", x, SECTOR_GLOBAL)
#define RED_SHARED_OWN(text, x) asm volatile(text :: "r"(OWN_SHARED), "r"(x) : "memory")
#define RED_GLOBAL_OWN(text, x) asm volatile(text :: "l"(OWN_GLOBAL), "r"(x) : "memory")
// Eight places in turn, which keep the alignment and the banks' conflicts.
#define ST_SHARED(text, x, word, step) asm volatile(text :: "r"(SHARED_ADDRESS + (word) * 4), "n"(((step) & 7) * 16), "r"(x) : "memory")
)";

// A step is one batch of copies and the wait for it; all batches of a warp land in the same place.
constexpr const char* copies = R"(
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
)";

constexpr const char* barriers = R"(
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
)";

// Every path is an instruction of its own, so that the paths cannot be merged again.
std::string divergence(int paths) {
    std::string cases;
    for (int i = 0; i < paths; ++i) {
        cases += fmt::format(
            "case {}: asm volatile(\"fma.rn.f32 %0, %0, %1, 0f{:08X};\" : \"+f\"(x) : \"f\"(a)); "
            "break; ",
            i, 0x3f400000 + i);
    }
    // The way is made unknown anew in each step, so that the lanes come together after each.
    return fmt::format(
        "#define DIVERGE_{0}(x) {{ uint way = LANE % {0}u; asm volatile(\"\" : \"+r\"(way)); "
        "switch (way) {{ {1}}} }}\n",
        paths, cases);
}

}  // namespace

std::string cuda_unit_macros() {
    std::string text = std::string(matrix) + group_matrix + atomics + copies + barriers;
    for (const int paths : {2, 4, 8, 16, 32}) text += divergence(paths);
    text += cuda_matrix_macros() + cuda_cluster_macros();
    return text;
}

}  // namespace occupipe::bench
