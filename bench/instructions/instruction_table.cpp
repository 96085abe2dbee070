// SPDX-License-Identifier: MIT
#include "bench/instructions/instruction_table.h"

#include <algorithm>
#include <array>
#include <vector>

#include "bench/cuda/cuda_rows.h"
#include "bench/opencl/opencl_rows.h"

namespace occupipe::bench {
namespace {

using enum DataType;
using enum Pattern;

constexpr std::string_view subroutine =
    "NVIDIA GPUs have no such instruction: a reciprocal seed, a few multiply-adds and a rarely "
    "taken slow path; one seed instruction per operation is what the receipt counts";
constexpr std::string_view subnormals =
    "the function unit flushes subnormals: a comparison and multiplications scale them around it";
constexpr std::string_view padding =
    "on GPUs with a narrow FP64 unit (sm_120) the assembler puts no-operations in between";
constexpr std::string_view libm = "a library function of the OpenCL runtime, not one instruction";

// Operands: a, b and x keep |values| within 1e-30…1e30 at any depth. Divisions are chained through
// the divisor in all dialects (a compiler would take the reciprocal of a constant one out of the
// chain) and alternate between x and a / x, both of full length; square roots settle at 1, where no
// unit that we know is faster than elsewhere.
constexpr std::array rows = {
    Row{.id = "add.f32",
        .type = f32,
        .pattern = chain,
        .step = "ADD_F32($, a)",
        .a = 1e-3,
        .b = 0,
        .x = 1,
        .ptx = "add.rn.f32",
        .sass = "FADD",
        .x86 = "v?addss",
        .sass_also = "",
        .x86_also = "",
        .foldable = false,
        .meaning = "single-precision addition"},
    Row{.id = "mul.f32",
        .type = f32,
        .pattern = chain,
        .step = "MUL_F32($, a)",
        .a = 1.0000001,
        .b = 0,
        .x = 1,
        .ptx = "mul.rn.f32",
        .sass = "FMUL",
        .x86 = "v?mulss",
        .sass_also = "",
        .x86_also = "",
        .foldable = false,
        .meaning = "single-precision multiplication"},
    Row{.id = "fma.f32",
        .type = f32,
        .pattern = chain,
        .step = "FMA_F32($, a, b)",
        .a = 0.5,
        .b = 0.75,
        .x = 1,
        .ptx = "fma.rn.f32",
        .sass = "FFMA",
        .x86 = "vfn?madd\\d+ss",
        .sass_also = "",
        .x86_also = "",
        .foldable = false,
        .meaning = "single-precision fused multiply-add, chained through the multiplicand"},
    Row{.id = "div.f32",
        .type = f32,
        .pattern = chain,
        .step = "DIV_F32($, a)",
        .a = 3,
        .b = 0,
        .x = 1.7,
        .ptx = "div.rn.f32",
        .sass = "MUFU.RCP",
        .x86 = "v?divss",
        .sass_also = subroutine,
        .x86_also = "",
        .foldable = false,
        .meaning = "single-precision division, correctly rounded, chained through the divisor",
        .sass_length = 12},
    Row{.id = "sqrt.f32",
        .type = f32,
        .pattern = chain,
        .step = "SQRT_F32($)",
        .a = 0,
        .b = 0,
        .x = 1e30,
        .ptx = "sqrt.rn.f32",
        .sass = "MUFU.RSQ",
        .x86 = "v?sqrtss",
        .sass_also = subroutine,
        .x86_also = "",
        .foldable = false,
        .meaning = "single-precision square root, correctly rounded",
        .sass_length = 16},
    Row{.id = "add.f64",
        .type = f64,
        .pattern = chain,
        .step = "ADD_F64($, a)",
        .a = 1e-3,
        .b = 0,
        .x = 1,
        .ptx = "add.rn.f64",
        .sass = "DADD",
        .x86 = "v?addsd",
        .sass_also = padding,
        .x86_also = "",
        .foldable = false,
        .meaning = "double-precision addition"},
    Row{.id = "mul.f64",
        .type = f64,
        .pattern = chain,
        .step = "MUL_F64($, a)",
        .a = 1.0000000001,
        .b = 0,
        .x = 1,
        .ptx = "mul.rn.f64",
        .sass = "DMUL",
        .x86 = "v?mulsd",
        .sass_also = padding,
        .x86_also = "",
        .foldable = false,
        .meaning = "double-precision multiplication"},
    Row{.id = "fma.f64",
        .type = f64,
        .pattern = chain,
        .step = "FMA_F64($, a, b)",
        .a = 0.5,
        .b = 0.75,
        .x = 1,
        .ptx = "fma.rn.f64",
        .sass = "DFMA",
        .x86 = "vfn?madd\\d+sd",
        .sass_also = padding,
        .x86_also = "",
        .foldable = false,
        .meaning = "double-precision fused multiply-add, chained through the multiplicand"},
    Row{.id = "div.f64",
        .type = f64,
        .pattern = chain,
        .step = "DIV_F64($, a)",
        .a = 3,
        .b = 0,
        .x = 1.7,
        .ptx = "div.rn.f64",
        .sass = "MUFU.RCP64H",
        .x86 = "v?divsd",
        .sass_also = subroutine,
        .x86_also = "",
        .foldable = false,
        .meaning = "double-precision division, correctly rounded, chained through the divisor",
        .sass_length = 32},
    Row{.id = "sqrt.f64",
        .type = f64,
        .pattern = chain,
        .step = "SQRT_F64($)",
        .a = 0,
        .b = 0,
        .x = 1e30,
        .ptx = "sqrt.rn.f64",
        .sass = "MUFU.RSQ64H",
        .x86 = "v?sqrtsd",
        .sass_also = subroutine,
        .x86_also = "",
        .foldable = false,
        .meaning = "double-precision square root, correctly rounded",
        .sass_length = 32},
    Row{.id = "add.s32",
        .type = s32,
        .pattern = chain,
        .step = "ADD_S32($, a)",
        .a = 3,
        .b = 0,
        .x = 1,
        .ptx = "add.s32",
        .sass = "IADD3",
        .x86 = "addl?",
        .sass_also = "",
        .x86_also = "",
        .foldable = true,
        .meaning = "32-bit integer addition"},
    Row{.id = "mul.s32",
        .type = s32,
        .pattern = chain,
        .step = "MUL_S32($, a)",
        .a = 3,
        .b = 0,
        .x = 1,
        .ptx = "mul.lo.s32",
        .sass = "IMAD",
        .x86 = "imull?",
        .sass_also = "",
        .x86_also = "",
        .foldable = true,
        .meaning = "32-bit integer multiplication, low half"},
    Row{.id = "mad.s32",
        .type = s32,
        .pattern = chain,
        .step = "MAD_S32($, a, b)",
        .a = 3,
        .b = 5,
        .x = 1,
        .ptx = "mad.lo.s32",
        .sass = "IMAD",
        .x86 = "imull?",
        .sass_also = "",
        .x86_also = "x86-64 has no integer multiply-add: an addition follows each multiplication",
        .foldable = true,
        .meaning = "32-bit integer multiply-add, low half"},
    Row{.id = "div.s32",
        .type = s32,
        .pattern = chain,
        .step = "DIV_S32($, a)",
        .a = 1000003,
        .b = 0,
        .x = 1021,
        .ptx = "div.s32",
        .sass = "MUFU.RCP",
        .x86 = "idivl?",
        .sass_also = subroutine,
        .x86_also = "sign extension of the dividend and register moves",
        .foldable = false,
        .meaning = "32-bit integer division, chained through the divisor",
        .sass_length = 27},
    Row{.id = "shl.b32",
        .type = b32,
        .pattern = chain,
        .step = "SHL_B32($, a)",
        .a = 1,
        .b = 0,
        .x = 12345,
        .ptx = "shl.b32",
        .sass = "SHF",
        .x86 = "(shll?|shlxl?|sall?)",
        .sass_also = "",
        .x86_also = "",
        .foldable = true,
        .meaning = "32-bit left shift by a register"},
    Row{.id = "xor.b32",
        .type = b32,
        .pattern = chain,
        .step = "XOR_B32($, a)",
        .a = 0x5bd1e995,
        .b = 0,
        .x = 12345,
        .ptx = "xor.b32",
        .sass = "LOP3",
        .x86 = "xorl?",
        .sass_also = "",
        .x86_also = "",
        .foldable = true,
        .meaning = "32-bit exclusive or"},
    Row{.id = "and.b32",
        .type = b32,
        .pattern = chain,
        .step = "AND_B32($, a)",
        .a = 0x7ffffffe,
        .b = 0,
        .x = 12345,
        .ptx = "and.b32",
        .sass = "LOP3",
        .x86 = "andl?",
        .sass_also = "",
        .x86_also = "",
        .foldable = true,
        .meaning = "32-bit and"},
    Row{.id = "cos.approx.f32",
        .type = f32,
        .pattern = chain,
        .step = "COS_APPROX_F32($)",
        .a = 0,
        .b = 0,
        .x = 1,
        .ptx = "cos.approx.f32",
        .sass = "MUFU.COS",
        .x86 = "",
        .sass_also = "one multiplication brings the angle to turns before the function unit",
        .x86_also = libm,
        .foldable = false,
        .meaning = "hardware cosine (native_cos)",
        .sass_length = 2},
    Row{.id = "ex2.approx.f32",
        .type = f32,
        .pattern = chain,
        .step = "EX2_APPROX_F32($)",
        .a = 0,
        .b = 0,
        .x = 1,
        .ptx = "ex2.approx.f32",
        .sass = "MUFU.EX2",
        .x86 = "",
        .sass_also = subnormals,
        .x86_also = libm,
        .foldable = false,
        .meaning = "hardware power of two (native_exp2) of the negated value",
        .sass_length = 5},
    Row{.id = "ex2.approx.ftz.f32",
        .type = f32,
        .pattern = chain,
        .step = "EX2_APPROX_FTZ_F32($)",
        .a = 0,
        .b = 0,
        .x = 1,
        .ptx = "ex2.approx.ftz.f32",
        .sass = "MUFU.EX2",
        .x86 = "",
        .sass_also = "",
        .x86_also = libm,
        .foldable = false,
        .meaning = "hardware power of two of the negated value, subnormals flushed to zero"},
    Row{.id = "rsqrt.approx.f32",
        .type = f32,
        .pattern = chain,
        .step = "RSQRT_APPROX_F32($)",
        .a = 0,
        .b = 0,
        .x = 4,
        .ptx = "rsqrt.approx.f32",
        .sass = "MUFU.RSQ",
        .x86 = "",
        .sass_also = subnormals,
        .x86_also = libm,
        .foldable = false,
        .meaning = "hardware reciprocal square root (native_rsqrt)",
        .sass_length = 4},
    Row{.id = "rsqrt.approx.ftz.f32",
        .type = f32,
        .pattern = chain,
        .step = "RSQRT_APPROX_FTZ_F32($)",
        .a = 0,
        .b = 0,
        .x = 4,
        .ptx = "rsqrt.approx.ftz.f32",
        .sass = "MUFU.RSQ",
        .x86 = "",
        .sass_also = "",
        .x86_also = libm,
        .foldable = false,
        .meaning = "hardware reciprocal square root, subnormals flushed to zero"},
    Row{.id = "ld.shared.u32",
        .type = u32,
        .pattern = shared_chase,
        .step = "LD_SHARED_U32($)",
        .a = 1,
        .b = 0,
        .x = 0,
        .ptx = "ld.shared.u32",
        .sass = "LDS",
        .x86 = "movl?",
        .sass_also = "",
        .x86_also = "",
        .foldable = false,
        .meaning = "32-bit load from shared (OpenCL local) memory, no bank conflicts"},
    Row{.id = "ld.global.u32",
        .type = u32,
        .pattern = global_chase,
        .step = "LD_GLOBAL_U32($)",
        .a = 0,
        .b = 0,
        .x = 0,
        .ptx = "ld.global.u32",
        .sass = "LDG",
        .x86 = "movl?",
        .sass_also = "copies of the constant upper half of addresses, off the dependent path",
        .x86_also = "",
        .foldable = false,
        .meaning = "32-bit load from global memory beyond the last cache, coalesced, each address "
                   "from the load before it (pointer chase)"},
    Row{.id = "ld.global.f32",
        .type = f32,
        .pattern = global_stream,
        .step = "LD_GLOBAL_F32($, #)",
        .a = 0,
        .b = 0,
        .x = 0,
        .ptx = "ld.global.f32",
        .sass = "LDG",
        .x86 = "v?addss",
        .sass_also = "one addition per load",
        .x86_also = "",
        .foldable = false,
        .meaning = "32-bit load from global memory beyond the last cache, coalesced, in order, "
                   "loads not waiting for each other (streaming); each value is added up",
        .order = Order::none},
    Row{.id = "ld.global.u32.working_set",
        .type = u32,
        .pattern = global_chase,
        .step = "LD_GLOBAL_U32($)",
        .ptx = "ld.global.u32",
        .sass = "LDG",
        .x86 = "movl?",
        .sass_also = "copies of the constant upper half of addresses, off the dependent path",
        .meaning = "32-bit load from global memory over working sets of growing size (pointer "
                   "chase by one warp of a core): where the caches end",
        .working_sets = true,
        .most_chains = 1},
    Row{.id = "loop",
        .type = u32,
        .pattern = empty_loop,
        .step = "EMPTY_LOOP($)",
        .x = 1,
        .meaning = "iteration of a loop with nothing in it: count, comparison and branch",
        .order = Order::waits,
        .unroll = 1,
        .most_chains = 1},
    Row{.id = "launch",
        .type = u32,
        .pattern = launch,
        .step = "LAUNCH($)",
        .ptx = "ret",
        .meaning = "launch of a kernel that does nothing, one behind the other in a queue",
        .order = Order::waits,
        .unroll = 1,
        .most_chains = 1},
    Row{.id = "launch.awaited",
        .type = u32,
        .pattern = awaited_launch,
        .step = "LAUNCH($)",
        .ptx = "ret",
        .meaning = "launch of a kernel that does nothing, each awaited by the host before the next "
                   "(the cost of a global synchronisation through the host)",
        .order = Order::waits,
        .unroll = 1,
        .most_chains = 1},
    Row{.id = "launch.graph",
        .type = u32,
        .pattern = graph_launch,
        .step = "LAUNCH($)",
        .ptx = "ret",
        .meaning = "kernel that does nothing, one behind the other in a CUDA graph that is "
                   "launched as a whole",
        .order = Order::waits,
        .unroll = 1,
        .most_chains = 1},
    Row{.id = "launch.groups",
        .type = u32,
        .pattern = launch_groups,
        .step = "LAUNCH($)",
        .ptx = "ret",
        .meaning = "start and end of a group that does nothing, many in one launch",
        .order = Order::waits,
        .unroll = 1,
        .most_chains = 1},
    Row{.id = "bar.sync",
        .type = s32,
        .pattern = barrier,
        .step = "BAR_SYNC($)",
        .a = 0,
        .b = 0,
        .x = 1,
        .ptx = "bar.sync",
        .sass = "BAR",
        .x86 = "",
        .sass_also = "",
        .x86_also = "",
        .foldable = false,
        .meaning = "barrier of all warps of a group",
        .order = Order::waits},
};

}  // namespace

std::span<const Row> instruction_table() {
    static const std::vector<Row> all = [] {
        std::vector<Row> table(rows.begin(), rows.end());
        for (const auto& more :
             {cuda_float_rows(), cuda_half_rows(), cuda_integer_rows(), cuda_wide_rows(),
              cuda_further_rows(), cuda_memory_rows(), cuda_matrix_rows(), cuda_product_rows(),
              cuda_group_matrix_rows(), cuda_cluster_rows(), cuda_fused_rows(), cuda_unit_rows(),
              cuda_behaviour_rows()}) {
            table.insert(table.end(), more.begin(), more.end());
        }
        join_opencl_rows(table);
        return table;
    }();
    return all;
}

const Row* find_row(std::string_view id) { return find_row(instruction_table(), id); }

const Row* find_row(std::span<const Row> rows, std::string_view id) {
    const auto found = std::ranges::find(rows, id, &Row::id);
    return found == rows.end() ? nullptr : &*found;
}

std::string_view type_name(DataType type) {
    switch (type) {
        case f32:
            return "float";
        case f64:
            return "double";
        case s32:
            return "int";
        case u32:
        case b32:
        case f16x2:
        case bf16x2:
            return "uint";
        case s64:
            return "long";
        case f16:
        case bf16:
            return "ushort";
        case f32x4:
            return "float4";
        case f64x2:
            return "double2";
        case s32x4:
            return "int4";
    }
    return "";
}

std::string_view state_name(const Row& row) {
    return row.state.empty() ? type_name(row.type) : row.state;
}

std::size_t type_size(DataType type) {
    if (type == f32x4 || type == f64x2 || type == s32x4) return 16;
    if (type == f64 || type == s64) return 8;
    return type == f16 || type == bf16 ? 2 : 4;
}

DataType element_type(DataType type) {
    switch (type) {
        case f32x4:
            return f32;
        case f64x2:
            return f64;
        case s32x4:
            return s32;
        default:
            return type;
    }
}

}  // namespace occupipe::bench
