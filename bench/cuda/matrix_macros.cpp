// SPDX-License-Identifier: MIT
#include "bench/cuda/matrix_macros.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace occupipe::bench {
namespace {

// Multiplicands have registers of their own and elements that differ: `keep` are the bits of an
// element that are arbitrary, `set` those that are always there, which make it a number of middling
// size. (The mixing of bits: Wellons, "Prospecting for hash functions", 2018.)
constexpr const char* products = R"(
__device__ __forceinline__ uint arbitrary(uint n)
{
    n ^= n >> 16;
    n *= 0x7feb352du;
    n ^= n >> 15;
    n *= 0x846ca68bu;
    return n ^ n >> 16;
}
template <typename Element, int count, int lefts, int rights, uint keep, uint set>
struct Product : Fragment<Element, count> {
    uint left[lefts], right[rights];
    __device__ __forceinline__ Product(uint bits) : Fragment<Element, count>(bits)
    {
        _Pragma("unroll") for (int i = 0; i < lefts; ++i) left[i] = (arbitrary(bits + LANE * 64 + i) & keep) | set;
        _Pragma("unroll") for (int i = 0; i < rights; ++i) right[i] = (arbitrary(bits + LANE * 64 + 32 + i) & keep) | set;
    }
};
template <int count, int lefts, int rights> struct ProductF64 : Fragment<double, count> {
    double left[lefts], right[rights];
    __device__ __forceinline__ ProductF64(uint bits) : Fragment<double, count>(bits)
    {
        _Pragma("unroll") for (int i = 0; i < lefts; ++i) left[i] = (int)(arbitrary(bits + LANE * 64 + i) & 1023) / 1024.0 - 0.5;
        _Pragma("unroll") for (int i = 0; i < rights; ++i) right[i] = (int)(arbitrary(bits + LANE * 64 + 32 + i) & 1023) / 1024.0 - 0.5;
    }
};
)";

std::string numbers(int first, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += fmt::format("{}%{}", i > 0 ? "," : "", first + i);
    return text;
}

std::string operands(const char* constraint, const char* member, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) {
        text += fmt::format("{}\"{}\"((x).{}[{}])", i > 0 ? ", " : "", constraint, member, i);
    }
    return text;
}

struct ProductMacro {
    const char* name;
    const char* accumulator;  // constraint in inline assembly
    const char* factor;
    int count, lefts, rights;
    const char* more;  // operands behind the accumulators
};

// Which two of four elements (of tf32: one of two) of each row of A are there: the first.
#define OCCUPIPE_FIRST_KEPT ", %{}, 0"

std::string product(const ProductMacro& macro) {
    const int lefts = macro.count + macro.lefts;
    const int all = lefts + macro.rights;
    const bool more = macro.more[0] != 0;
    return fmt::format(
        "#define {0}(ptx, x) asm volatile(ptx \" {{{1}}}, {{{2}}}, {{{3}}}, {{{1}}}{4};\" : {5} : "
        "{6}, {7}{8})\n",
        macro.name, numbers(0, macro.count), numbers(macro.count, macro.lefts),
        numbers(lefts, macro.rights), fmt::format(fmt::runtime(macro.more), all),
        operands((std::string("+") + macro.accumulator).c_str(), "element", macro.count),
        operands(macro.factor, "left", macro.lefts), operands(macro.factor, "right", macro.rights),
        more ? ", \"r\"(0x44444444)" : "");
}

constexpr std::array macros = {
    ProductMacro{"PRODUCT_F4_42", "f", "r", 4, 4, 2, ""},
    ProductMacro{"PRODUCT_R4_42", "r", "r", 4, 4, 2, ""},
    ProductMacro{"PRODUCT_R2_42", "r", "r", 2, 4, 2, ""},
    ProductMacro{"PRODUCT_D4_21", "d", "d", 4, 2, 1, ""},
    ProductMacro{"PRODUCT_D4_42", "d", "d", 4, 4, 2, ""},
    ProductMacro{"PRODUCT_D4_84", "d", "d", 4, 8, 4, ""},
    ProductMacro{"PRODUCT_SPARSE_F4_44", "f", "r", 4, 4, 4, OCCUPIPE_FIRST_KEPT},
    ProductMacro{"PRODUCT_SPARSE_R4_44", "r", "r", 4, 4, 4, OCCUPIPE_FIRST_KEPT},
    ProductMacro{"PRODUCT_SPARSE_R2_44", "r", "r", 2, 4, 4, OCCUPIPE_FIRST_KEPT},
};

// A block of four 8x8 matrices of halves is 512 bytes: row r of matrix i at 128 i + 16 r. A load's
// result in lane l is the address that lane l gives to the next one: row l of the next block.
// Transposed, the two halves of that address lie in two rows, one above the other.
constexpr const char* moves = R"(
#define MATRIX_BLOCKS 8
#define MATRIX_RING(transposed) \
    for (uint h = threadIdx.x; h < MATRIX_BLOCKS * 256; h += blockDim.x) { \
        const uint row = h >> 3 & 7, column = h & 7; \
        const uint lane = (transposed) ? column * 4 + row / 2 : row * 4 + column / 2; \
        const uint next = SHARED_ADDRESS + ((h / 256 + 1) % MATRIX_BLOCKS) * 512 + lane * 16; \
        ((ushort*)shared)[h] = (ushort)(((transposed) ? row : column) & 1 ? next >> 16 : next); \
    } \
    __syncthreads()
struct MatrixWalk {
    uint address;
    uint sink;
    __device__ __forceinline__ MatrixWalk(uint block) : address(SHARED_ADDRESS + ((LOCAL_WARP + block) % MATRIX_BLOCKS) * 512 + LANE * 16), sink(block) {}
    __device__ __forceinline__ operator uint() const { return address + sink; }
};
#define LDMATRIX_1(ptx, x) asm volatile(ptx " {%0}, [%0];" : "+r"((x).address) :: "memory")
#define LDMATRIX_2(ptx, x) asm volatile("{ .reg .b32 t; " ptx " {%0, t}, [%0]; xor.b32 %1, %1, t; }" : "+r"((x).address), "+r"((x).sink) :: "memory")
#define LDMATRIX_4(ptx, x) asm volatile("{ .reg .b32 t, u, v; " ptx " {%0, t, u, v}, [%0]; lop3.b32 %1, %1, t, u, 0x96; xor.b32 %1, %1, v; }" : "+r"((x).address), "+r"((x).sink) :: "memory")
// Two places in turn for each warp.
struct MatrixStore {
    uint address;
    uint value[4];
    __device__ __forceinline__ MatrixStore(uint bits) : address(SHARED_ADDRESS + (LOCAL_WARP & 3) * 1024 + LANE * 16)
    {
        _Pragma("unroll") for (int i = 0; i < 4; ++i) value[i] = arbitrary(bits + LANE * 4 + i);
    }
    __device__ __forceinline__ operator uint() const { return value[0] + value[1] + value[2] + value[3]; }
};
#define STMATRIX_1(ptx, x, step) asm volatile(ptx " [%0+%1], {%2};" :: "r"((x).address), "n"(((step) & 1) * 512), "r"((x).value[0]) : "memory")
#define STMATRIX_2(ptx, x, step) asm volatile(ptx " [%0+%1], {%2, %3};" :: "r"((x).address), "n"(((step) & 1) * 512), "r"((x).value[0]), "r"((x).value[1]) : "memory")
#define STMATRIX_4(ptx, x, step) asm volatile(ptx " [%0+%1], {%2, %3, %4, %5};" :: "r"((x).address), "n"(((step) & 1) * 512), "r"((x).value[0]), "r"((x).value[1]), "r"((x).value[2]), "r"((x).value[3]) : "memory")
)";

// A and B of a warp group lie in shared memory without swizzling: eight rows of 16 bytes together,
// and every row of A and column of B is 32 bytes, whatever its elements are.
constexpr const char* group_products = R"(
#define MATRIX_FILL(bytes, keep, set) __syncthreads(); for (uint w = threadIdx.x; w < (bytes) / 4; w += blockDim.x) shared[w] = (arbitrary(w) & (keep)) | (set); SHARED_FILL_FENCE __syncthreads()
__device__ __forceinline__ void hold(float& value) { asm volatile("" : "+f"(value)); }
__device__ __forceinline__ void hold(int& value) { asm volatile("" : "+r"(value)); }
__device__ __forceinline__ void hold(uint& value) { asm volatile("" : "+r"(value)); }
// A reduction's result is uniform, which the instruction needs, and is not made anew in the loop,
// where the assembler would put the address's computation.
__device__ __forceinline__ ulong matrix_descriptor(uint offset)
{
    const ulong made = MATRIX_DESCRIPTOR(offset);
#if __CUDA_ARCH__ >= 800
    return (ulong)__reduce_max_sync(0xffffffffu, (uint)made) | made >> 32 << 32;
#else
    return made;
#endif
}
template <typename Element, int count> struct GroupProduct : Fragment<Element, count> {
    ulong left, right;
    __device__ __forceinline__ GroupProduct(uint bits) : Fragment<Element, count>(bits), left(matrix_descriptor(0)), right(matrix_descriptor(2048)) {}
    // What is still in flight has to land first.
    __device__ __forceinline__ operator uint()
    {
#if __CUDA_ARCH_FEAT_SM90_ALL
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#endif
        _Pragma("unroll") for (int i = 0; i < count; ++i) hold(this->element[i]);
        Element sum = this->element[0];
        _Pragma("unroll") for (int i = 1; i < count; ++i) sum = sum + this->element[i];
        return (uint)(int)sum;
    }
};
)";

}  // namespace

std::string cuda_matrix_macros() {
    std::string text = products;
    for (const ProductMacro& macro : macros) text += product(macro);
    return text + moves + group_products;
}

}  // namespace occupipe::bench
