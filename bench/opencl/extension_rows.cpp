// SPDX-License-Identifier: MIT
#include "bench/opencl/opencl_row.h"
#include "bench/opencl/opencl_rows.h"

namespace occupipe::bench {
namespace {

using enum DataType;

constexpr std::string_view fp16 = "cl_khr_fp16";
constexpr std::string_view bits = "cl_khr_extended_bit_ops";
constexpr std::string_view dot = "cl_khr_integer_dot_product";
constexpr std::string_view shuffle = "cl_khr_subgroup_shuffle";
constexpr std::string_view relative = "cl_khr_subgroup_shuffle_relative";
constexpr std::string_view ballot = "cl_khr_subgroup_ballot";
constexpr std::string_view groups = "cl_khr_subgroups";

constexpr std::string_view gpu_only = "no CPU runtime known to us has this extension";

// What only an extension of OpenCL C can say. Receipts on a CPU: none of them was met on one.
constexpr auto rows = table_rows({
    {"add.f16x2",
     f16x2,
     "$ = as_uint(as_half2($) + as_half2(a)); FENCE_32($)",
     {0.25, 0, 1},
     "",
     "",
     gpu_only,
     "",
     fp16},
    {"mul.f16x2",
     f16x2,
     "$ = as_uint(as_half2($) * as_half2(a)); FENCE_32($)",
     {1, 0, 1.5},
     "",
     "",
     gpu_only,
     "",
     fp16},
    {"fma.f16x2",
     f16x2,
     "$ = as_uint(fma(as_half2($), as_half2(a), as_half2(b))); FENCE_32($)",
     {0.5, 0.75, 1},
     "",
     "",
     gpu_only,
     "",
     fp16},
    {"brev.b32", b32, "$ = bit_reverse($); FENCE_32($)", {0, 0, 12345}, "", "", gpu_only, "", bits},
    {"bfe.u32",
     u32,
     "$ = bitfield_extract_unsigned($, a, b); FENCE_32($)",
     {1, 30, 4e9},
     "",
     "",
     gpu_only,
     "",
     bits},
    {"dp4a.s32",
     s32,
     "$ = dot_4x8packed_ss_int((uint)a, (uint)b) + $; FENCE_32($)",
     {0x01020304, 0x0101, 1},
     "",
     "",
     gpu_only,
     "",
     dot},
    {"shfl.sync.idx.b32",
     b32,
     "$ = sub_group_shuffle($, a); FENCE_32($)",
     {5, 0, 12345},
     "",
     "",
     gpu_only,
     "",
     shuffle},
    {"shfl.sync.bfly.b32",
     b32,
     "$ = sub_group_shuffle_xor($, a); FENCE_32($)",
     {5, 0, 12345},
     "",
     "",
     gpu_only,
     "",
     shuffle},
    {"shfl.sync.up.b32",
     b32,
     "$ = sub_group_shuffle_up($, a); FENCE_32($)",
     {5, 0, 12345},
     "",
     "",
     gpu_only,
     "",
     relative},
    {"shfl.sync.down.b32",
     b32,
     "$ = sub_group_shuffle_down($, a); FENCE_32($)",
     {5, 0, 12345},
     "",
     "",
     gpu_only,
     "",
     relative},
    {"vote.sync.ballot.b32",
     b32,
     "$ = sub_group_ballot($ != a).x; FENCE_32($)",
     {5, 0, 12345},
     "",
     "",
     gpu_only,
     "",
     ballot},
    {"redux.sync.add.s32",
     s32,
     "$ = sub_group_reduce_add($); FENCE_32($)",
     {0, 0, 1},
     "",
     "",
     gpu_only,
     "",
     groups},
    {"redux.sync.max.s32",
     s32,
     "$ = sub_group_reduce_max($); FENCE_32($)",
     {0, 0, 1},
     "",
     "",
     gpu_only,
     "",
     groups},
});

}  // namespace

std::span<const Row> opencl_extension_rows() { return rows; }

}  // namespace occupipe::bench
