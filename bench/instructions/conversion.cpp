// SPDX-License-Identifier: MIT
// A conversion's result is taken as it stands, as bits, for the next one's operand: the values mean
// nothing, but each conversion needs the one before it.
#include "bench/instructions/catalogue.h"
#include "bench/instructions/reasons.h"

namespace occupipe::bench {
namespace {

using enum DataType;

constexpr std::string_view between_register_files =
    "x86-64 keeps integers and floating point apart: a move between the two kinds of registers "
    "lies on the chain, and clearing the result's register beside it";
constexpr std::string_view pocl_rounding =
    "PoCL's rounding is a sequence of conversions, comparisons and predicted branches, whatever "
    "the CPU has";
constexpr std::string_view moved_under_predicate =
    "a move under a predicate, which keeps the assembler from dropping repeated extensions";

// clang-format off
constexpr CatalogueRow rows[] = {
    {.id = "cvt.rn.f16.f32", .type = f32, .operands = {0, 0, 1.5},
     .meaning = "conversion, single to half precision and back",
     .cuda = {.ptx = "{ .reg .b16 h; cvt.rn.f16.f32 h, %0; cvt.f32.f16 %0, h; }",
              .counted = "cvt.rn.f16.f32", .sass = "F2FP|F2F",
              .also = "a half-precision addition widens again", .length = 2, .since = 75,
              .most_chains = 1},
     .opencl = {.step = "{ ushort h; vstore_half_rte($, 0, (__private half*)&h); FENCE_16(h); $ "
                        "= vload_half(0, (const __private half*)&h); FENCE_F32($); }",
                .also = "PoCL converts half precision by some eighty integer and floating-point "
                        "operations with branches, whatever the CPU has",
                .operands = Operands{0, 0, 1.7},
                .meaning = "conversion, single to half precision (vstore_half) and back "
                           "(vload_half)"}},
    {.id = "cvt.rzi.s32.f32", .type = b32, .operands = {0, 0, 1.2e9},
     .meaning = "conversion, single precision to integer, truncating",
     .cuda = {.ptx = "{ .reg .f32 f; mov.b32 f, %0; cvt.rzi.s32.f32 %0, f; }",
              .counted = "cvt.rzi.s32.f32", .sass = "F2I", .since = 75},
     .opencl = {.step = "$ = as_uint(convert_int_rtz(as_float($))); FENCE_32($)",
                .x86 = "v?cvttss2si[lq]?", .also = between_register_files}},
    {.id = "cvt.rzi.s64.f64", .type = s64, .operands = {0, 0, 4e18},
     .meaning = "conversion, double precision to 64-bit integer, truncating",
     .cuda = {.ptx = "{ .reg .f64 f; mov.b64 f, %0; cvt.rzi.s64.f64 %0, f; }",
              .counted = "cvt.rzi.s64.f64", .sass = "F2I.64", .also = narrow_fp64_unit,
              .since = 75},
     .opencl = {.step = "$ = convert_long_rtz(as_double($)); FENCE_64($)",
                .x86 = "v?cvttsd2si[lq]?", .also = between_register_files,
                .operands = Operands{0, 0, 4.7e18}}},
    {.id = "cvt.rn.f64.s64", .type = s64, .operands = {0, 0, 12345},
     .meaning = "conversion, 64-bit integer to double precision",
     .cuda = {.ptx = "{ .reg .f64 f; cvt.rn.f64.s64 f, %0; mov.b64 %0, f; }",
              .counted = "cvt.rn.f64.s64", .sass = "I2F.64", .also = narrow_fp64_unit,
              .since = 75},
     .opencl = {.step = "$ = as_long(convert_double($)); FENCE_64($)", .x86 = "v?cvtsi2sd[lq]?",
                .also = between_register_files}},
    {.id = "cvt.rzi.s32.f64", .type = f64, .operands = {0, 0, 12345},
     .meaning = "conversion, double precision to integer, truncating",
     .cuda = {.ptx = "{ .reg .b32 t, p, q; mov.b64 {p, q}, %1; cvt.rzi.s32.f64 t, %0; mov.b64 "
                     "%0, {p, t}; }", .counted = "cvt.rzi.s32.f64", .sass = "F2I.64",
              .also = narrow_fp64_unit, .since = 75, .most_chains = 1},
     .opencl = {.step = "$ = convert_int_rtz(as_double($)); FENCE_64($)",
                .x86 = "v?cvttsd2si[lq]?", .also = between_register_files, .type = s64,
                .operands = Operands{0, 0, 4.7e18}}},
    {.id = "cvt.rn.f64.s32", .type = f64, .operands = {0, 0, 12345},
     .meaning = "conversion, integer to double precision",
     .cuda = {.ptx = "{ .reg .b32 t, u; mov.b64 {t, u}, %0; cvt.rn.f64.s32 %0, u; }",
              .counted = "cvt.rn.f64.s32", .sass = "I2F.64", .also = narrow_fp64_unit,
              .since = 75, .most_chains = 1},
     .opencl = {.step = "$ = as_long(convert_double(as_int2($).y)); FENCE_64($)",
                .x86 = "v?cvtsi2sd[lq]?", .also = between_register_files, .type = s64,
                .operands = Operands{0, 0, 4.7e18}}},
    {.id = "cvt.rmi.f32.f32", .type = f32, .operands = {0, 0, 7.3},
     .meaning = "single precision rounded down to a whole number",
     .cuda = {.ptx = "@go cvt.rmi.f32.f32 %0, %0;", .sass = "FRND", .since = 75},
     .opencl = {.step = "$ = floor($); FENCE_F32($)", .also = pocl_rounding}},
    {.id = "cvt.rpi.f32.f32", .type = f32, .operands = {0, 0, 7.3},
     .meaning = "single precision rounded up to a whole number",
     .cuda = {.ptx = "@go cvt.rpi.f32.f32 %0, %0;", .sass = "FRND", .since = 75},
     .opencl = {.step = "$ = ceil($); FENCE_F32($)", .also = pocl_rounding}},
    {.id = "cvt.rzi.f32.f32", .type = f32, .operands = {0, 0, 7.3},
     .meaning = "single precision rounded to a whole number towards zero",
     .cuda = {.ptx = "@go cvt.rzi.f32.f32 %0, %0;", .sass = "FRND", .since = 75},
     .opencl = {.step = "$ = trunc($); FENCE_F32($)", .also = pocl_rounding}},
    {.id = "cvt.rni.f64.f64", .type = f64, .operands = {0, 0, 7.3},
     .meaning = "double precision rounded to a whole number",
     .cuda = {.ptx = "cvt.rni.f64.f64 %0, %0;", .sass = "FRND.64", .also = narrow_fp64_unit,
              .since = 75},
     .opencl = {.step = "$ = rint($); FENCE_F64($)", .also = pocl_rounding}},
    {.id = "cvt.rmi.f64.f64", .type = f64, .operands = {0, 0, 7.3},
     .meaning = "double precision rounded down to a whole number",
     .cuda = {.ptx = "cvt.rmi.f64.f64 %0, %0;", .sass = "FRND.64", .also = narrow_fp64_unit,
              .since = 75},
     .opencl = {.step = "$ = floor($); FENCE_F64($)", .also = pocl_rounding}},
    {.id = "cvt.s32.s8", .type = s32, .operands = {0, 0, 7},
     .meaning = "sign extension, 8 to 32 bits",
     .cuda = {.ptx = "@go cvt.s32.s8 %0, %0;", .sass = "PRMT|I2I|SGXT",
              .also = moved_under_predicate, .length = 2, .since = 75},
     .opencl = {.step = "$ = convert_int(convert_char($)); FENCE_32($)", .x86 = "movsbl",
                .operands = Operands{0, 0, 12345}}},
    {.id = "cvt.s32.s16", .type = s32, .operands = {0, 0, 7},
     .meaning = "sign extension, 16 to 32 bits",
     .cuda = {.ptx = "@go cvt.s32.s16 %0, %0;", .sass = "PRMT|I2I|SGXT",
              .also = moved_under_predicate, .length = 2, .since = 75},
     .opencl = {.step = "$ = convert_int(convert_short($)); FENCE_32($)", .x86 = "(movswl|cwtl)",
                .operands = Operands{0, 0, 12345}}},
    {.id = "cvt.u32.u8", .type = s32, .operands = {0, 0, 7},
     .meaning = "zero extension, 8 to 32 bits",
     .cuda = {.ptx = "@go cvt.u32.u8 %0, %0;", .sass = "LOP3|PRMT", .since = 75},
     .opencl = {.step = "$ = convert_uint(convert_uchar($)); FENCE_32($)", .x86 = "movzbl",
                .type = u32, .operands = Operands{0, 0, 12345}}},
    {.id = "cvt.u32.u16", .type = s32, .operands = {0, 0, 7},
     .meaning = "zero extension, 16 to 32 bits",
     .cuda = {.ptx = "@go cvt.u32.u16 %0, %0;", .sass = "LOP3|PRMT", .since = 75},
     .opencl = {.step = "$ = convert_uint(convert_ushort($)); FENCE_32($)", .x86 = "movzwl",
                .type = u32, .operands = Operands{0, 0, 12345}}},
    {.id = "cvt.sat.u8.s32", .type = s32, .operands = {0, 0, 7},
     .meaning = "conversion, integer to 8 bits, saturating",
     .cuda = {.ptx = "cvt.sat.u8.s32 %0, %0;", .sass = "I2I|I2IP",
              .also = "logic that clears the upper bits", .length = 2, .since = 75},
     .opencl = {.step = "$ = convert_int(convert_uchar_sat($)); FENCE_32($)",
                .also = "PoCL compares with both limits, once by a predicted branch",
                .operands = Operands{0, 0, 12345}}},
    {.id = "cvt.rni.s32.f32", .type = b32, .operands = {0, 0, 1.2e9},
     .meaning = "conversion, single precision to integer, rounding",
     .cuda = {.ptx = "{ .reg .f32 f; mov.b32 f, %0; cvt.rni.s32.f32 %0, f; }",
              .counted = "cvt.rni.s32.f32", .sass = "F2I", .since = 75},
     .opencl = {.step = "$ = as_uint(convert_int_rte(as_float($))); FENCE_32($)",
                .also = "PoCL rounds by a sequence of conversions, comparisons and predicted "
                        "branches"}},
    {.id = "cvt.rzi.u32.f32", .type = b32, .operands = {0, 0, 1.2e9},
     .meaning = "conversion, single precision to unsigned integer, truncating",
     .cuda = {.ptx = "{ .reg .f32 f; mov.b32 f, %0; cvt.rzi.u32.f32 %0, f; }",
              .counted = "cvt.rzi.u32.f32", .sass = "F2I", .since = 75},
     .opencl = {.step = "$ = convert_uint_rtz(as_float($)); FENCE_32($)",
                .x86 = "v?cvttss2u?si[lq]?", .also = between_register_files}},
    {.id = "cvt.rn.f32.s32", .type = b32, .operands = {0, 0, 12345},
     .meaning = "conversion, integer to single precision",
     .cuda = {.ptx = "{ .reg .f32 f; cvt.rn.f32.s32 f, %0; mov.b32 %0, f; }",
              .counted = "cvt.rn.f32.s32", .sass = "I2F|I2FP", .since = 75},
     .opencl = {.step = "$ = as_uint(convert_float(as_int($))); FENCE_32($)",
                .x86 = "v?cvtsi2ss[lq]?", .also = between_register_files}},
    {.id = "cvt.rn.f32.u32", .type = b32, .operands = {0, 0, 12345},
     .meaning = "conversion, unsigned integer to single precision",
     .cuda = {.ptx = "{ .reg .f32 f; cvt.rn.f32.u32 f, %0; mov.b32 %0, f; }",
              .counted = "cvt.rn.f32.u32", .sass = "I2F|I2FP", .since = 75},
     .opencl = {.step = "$ = as_uint(convert_float($)); FENCE_32($)", .x86 = "v?cvtu?si2ss[lq]?",
                .also = between_register_files}},
    {.id = "cvt.rni.f32.f32", .type = f32, .operands = {0, 0, 7.3},
     .meaning = "single precision rounded to a whole number",
     .cuda = {.ptx = "@go cvt.rni.f32.f32 %0, %0;", .sass = "FRND", .since = 75},
     .opencl = {.step = "$ = rint($); FENCE_F32($)", .also = pocl_rounding}},
    {.id = "cvt.f64.f32", .type = f64, .operands = {0, 0, 1.5},
     .meaning = "conversion, single to double precision",
     .cuda = {.ptx = "{ .reg .b32 p, q; .reg .f32 f; mov.b64 {p, q}, %0; mov.b32 f, q; "
                     "cvt.f64.f32 %0, f; }", .counted = "cvt.f64.f32", .sass = "F2F.64",
              .also = narrow_fp64_unit, .since = 75},
     .opencl = {.step = "$ = convert_double(as_float2($).y); FENCE_F64($)", .x86 = "v?cvtss2sd",
                .also = "the upper half is taken out of the register first"}},
    {.id = "cvt.rn.f32.f64", .type = f64, .operands = {0, 0, 1.5},
     .meaning = "conversion, double to single precision and back",
     .cuda = {.ptx = "{ .reg .f32 f; cvt.rn.f32.f64 f, %0; cvt.f64.f32 %0, f; }",
              .counted = "cvt.rn.f32.f64", .sass = "F2F.64", .also = narrow_fp64_unit,
              .count = 2, .length = 2, .since = 75},
     .opencl = {.step = "{ float f = convert_float($); FENCE_F32(f); $ = convert_double(f); "
                        "FENCE_F64($); }", .x86 = "v?cvtsd2ss", .also = "the conversion back"}},
    {.id = "cvt.rn.f16x2.f32", .type = b32, .operands = {0, 0, 1.2e9},
     .meaning = "conversion, two single to half precision",
     .cuda = {.ptx = "{ .reg .f32 f, g; mov.b32 f, %0; mov.b32 g, %1; cvt.rn.f16x2.f32 %0, f, g; "
                     "}", .counted = "cvt.rn.f16x2.f32", .sass = "F2FP", .since = 80},
     .opencl = {.none = "OpenCL C converts to half precision one value at a time"}},
    {.id = "cvt.rn.bf16x2.f32", .type = b32, .operands = {0, 0, 1.2e9},
     .meaning = "conversion, two single precision to bfloat16",
     .cuda = {.ptx = "{ .reg .f32 f, g; mov.b32 f, %0; mov.b32 g, %1; cvt.rn.bf16x2.f32 %0, f, "
                     "g; }", .counted = "cvt.rn.bf16x2.f32", .sass = "F2FP", .since = 80},
     .opencl = {.none = no_bfloat16}},
    {.id = "cvt.s64.s32", .type = s64, .operands = {0, 0, 12345},
     .meaning = "sign extension, 32 to 64 bits",
     .cuda = {.none = "the upper half is made by one shift (shr.s32)"},
     .opencl = {.step = "$ = convert_long(convert_int($)); FENCE_64($)", .x86 = "(movslq|cltq)"}},
};
// clang-format on

}  // namespace

std::span<const CatalogueRow> conversion_rows() { return rows; }

}  // namespace occupipe::bench
