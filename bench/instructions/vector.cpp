// SPDX-License-Identifier: MIT
// Vectors of OpenCL C (128 bits: one instruction on x86-64, one per element on most GPUs), and
// pairs of values in NVIDIA's registers.
#include "bench/instructions/catalogue.h"
#include "bench/instructions/reasons.h"

namespace occupipe::bench {
namespace {

using enum DataType;

constexpr std::string_view no_pairs_of_floats =
    "OpenCL C cannot ask for two single-precision numbers in one instruction";
constexpr std::string_view one_each = "one instruction for each of the two there";
constexpr std::string_view element_by_element = "PTX computes vectors element by element";

// clang-format off
constexpr CatalogueRow rows[] = {
    {.id = "add.s16x2", .type = b32, .operands = {3, 5, 1},
     .meaning = "addition of 16-bit integers, two in a register",
     .cuda = {.ptx = "add.s16x2 %0, %0, %1;", .sass = "VIADD", .since = 90},
     .opencl = {.none = no_pairs_of_integers}},
    // Pairs in one 64-bit register: a is 1/2 (of mul 1), b is 3/4, x is 1, each twice.
    {.id = "add.f32x2", .type = s64,
     .operands = {0x3f0000003f000000p0, 0x3f4000003f400000p0, 0x3f8000003f800000p0},
     .meaning = "addition, single precision, two in a pair of registers",
     .cuda = {.ptx = "add.rn.f32x2 %0, %0, %1;", .sass = "FADD2", .since = 100,
              .gap = {120, 999, one_each}},
     .opencl = {.none = no_pairs_of_floats}},
    {.id = "mul.f32x2", .type = s64,
     .operands = {0x3f8000003f800000p0, 0x3f4000003f400000p0, 0x3f8000003f800000p0},
     .meaning = "multiplication, single precision, two in a pair of registers",
     .cuda = {.ptx = "mul.rn.f32x2 %0, %0, %1;", .sass = "FMUL2", .since = 100,
              .gap = {120, 999, one_each}},
     .opencl = {.none = no_pairs_of_floats}},
    {.id = "fma.f32x2", .type = s64,
     .operands = {0x3f0000003f000000p0, 0x3f4000003f400000p0, 0x3f8000003f800000p0},
     .meaning = "multiply-add, single precision, two in a pair of registers",
     .cuda = {.ptx = "fma.rn.f32x2 %0, %0, %1, %2;", .sass = "FFMA2", .since = 100,
              .gap = {120, 999, one_each}},
     .opencl = {.none = no_pairs_of_floats}},
    {.id = "add.f32x4", .type = f32x4, .operands = {1e-3, 0, 1},
     .meaning = "addition of float4",
     .cuda = {.none = element_by_element},
     .opencl = {.step = "$ = $ + a; FENCE_VECTOR($)", .x86 = "v?addps"}},
    {.id = "mul.f32x4", .type = f32x4, .operands = {1.0000001, 0, 1},
     .meaning = "multiplication of float4",
     .cuda = {.none = element_by_element},
     .opencl = {.step = "$ = $ * a; FENCE_VECTOR($)", .x86 = "v?mulps"}},
    {.id = "fma.f32x4", .type = f32x4, .operands = {0.5, 0.75, 1},
     .meaning = "fused multiply-add of float4, chained through the multiplicand",
     .cuda = {.none = element_by_element},
     .opencl = {.step = "$ = fma($, a, b); FENCE_VECTOR($)", .x86 = R"(vfn?madd\d+ps)"}},
    {.id = "div.f32x4", .type = f32x4, .operands = {3, 0, 1.7},
     .meaning = "division of float4, chained through the divisor",
     .cuda = {.none = element_by_element},
     .opencl = {.step = "$ = a / $; FENCE_VECTOR($)", .x86 = "v?divps"}},
    {.id = "sqrt.f32x4", .type = f32x4, .operands = {0, 0, 1e30},
     .meaning = "square root of float4",
     .cuda = {.none = element_by_element},
     .opencl = {.step = "$ = sqrt($); FENCE_VECTOR($)", .x86 = "v?sqrtps"}},
    {.id = "min.f32x4", .type = f32x4, .operands = {1.5, 0, 1},
     .meaning = "smaller values of two float4",
     .cuda = {.none = element_by_element},
     .opencl = {.step = "$ = min($, a); FENCE_VECTOR($)", .x86 = "v?minps"}},
    {.id = "add.f64x2", .type = f64x2, .operands = {1e-3, 0, 1},
     .meaning = "addition of double2",
     .cuda = {.none = element_by_element},
     .opencl = {.step = "$ = $ + a; FENCE_VECTOR($)", .x86 = "v?addpd"}},
    {.id = "mul.f64x2", .type = f64x2, .operands = {1.0000000001, 0, 1},
     .meaning = "multiplication of double2",
     .cuda = {.none = element_by_element},
     .opencl = {.step = "$ = $ * a; FENCE_VECTOR($)", .x86 = "v?mulpd"}},
    {.id = "fma.f64x2", .type = f64x2, .operands = {0.5, 0.75, 1},
     .meaning = "fused multiply-add of double2, chained through the multiplicand",
     .cuda = {.none = element_by_element},
     .opencl = {.step = "$ = fma($, a, b); FENCE_VECTOR($)", .x86 = R"(vfn?madd\d+pd)"}},
    {.id = "add.s32x4", .type = s32x4, .operands = {3, 0, 1},
     .meaning = "addition of int4",
     .cuda = {.none = element_by_element},
     .opencl = {.step = "$ = $ + a; FENCE_VECTOR($)", .x86 = "v?paddd"}},
    {.id = "mul.s32x4", .type = s32x4, .operands = {3, 0, 1},
     .meaning = "multiplication of int4, lower halves",
     .cuda = {.none = element_by_element},
     .opencl = {.step = "$ = $ * a; FENCE_VECTOR($)", .x86 = "v?pmulld"}},
    {.id = "xor.b32x4", .type = s32x4, .operands = {0x5bd1e995, 0, 12345},
     .meaning = "exclusive or of int4",
     .cuda = {.none = element_by_element},
     .opencl = {.step = "$ = $ ^ a; FENCE_VECTOR($)", .x86 = "v?(pxord?|xorps)"}},
};
// clang-format on

}  // namespace

std::span<const CatalogueRow> vector_rows() { return rows; }

}  // namespace occupipe::bench
