// SPDX-License-Identifier: MIT
#include "bench/opencl/opencl_row.h"
#include "bench/opencl/opencl_rows.h"

namespace occupipe::bench {
namespace {

using enum DataType;

constexpr std::string_view upper =
    "x86-64 multiplies in 64 bits and shifts the upper half down; extensions and moves";
constexpr std::string_view choice = "a comparison before each conditional move, and register moves";
constexpr std::string_view divide =
    "x86-64's division works on a register pair: its upper half is made, and registers are moved";
constexpr std::string_view addition = "the remainder is added to b, so that no divisor is zero";
constexpr std::string_view cleared =
    "before a count of bits the compiler clears the result's register, for older CPUs wait for it";
constexpr std::string_view conditional_move = R"(cmov\w+)";

// m and n: copies of the constants that a fence claims to depend on the chain. Else PoCL's compiler
// sees that half of each choice does not depend on the chain, and makes a branch of it, which the
// CPU predicts: no chain is left.
constexpr auto rows = table_rows({
    {"sub.s32",
     s32,
     "$ = $ - a; FENCE_32($)",
     {3, 0, 1},
     "(sub|add)l?",
     "32-bit integer subtraction"},
    {"mul.hi.s32",
     s32,
     "$ = (int)(((long)$ * a) >> 32); FENCE_32($)",
     {1e9, 0, 1e9},
     "imul[lq]?",
     "",
     upper},
    {"mul.hi.u32",
     u32,
     "$ = (uint)(((ulong)$ * a) >> 32); FENCE_32($)",
     {4e9, 0, 4e9},
     "(i?mul[lq]?|mulx[lq]?)",
     "",
     upper},
    {"mul24.lo.s32",
     s32,
     "$ = mul24($, a); FENCE_32($)",
     {3, 0, 1},
     "imull?",
     "multiplication of 24-bit integers, lower half (mul24)",
     "x86-64 multiplies 32 bits; PoCL may sign-extend the operands first"},
    {"mad24.lo.s32",
     s32,
     "$ = mad24($, a, b); FENCE_32($)",
     {3, 5, 1},
     "imull?",
     "multiply-add of 24-bit integers, lower half (mad24)",
     "an addition follows each multiplication; PoCL may sign-extend the operands first"},
    {"abs.s32",
     s32,
     "$ = as_int(abs($)); FENCE_32($)",
     {0, 0, -7},
     conditional_move,
     "absolute value of an integer",
     "a negation before each conditional move, and register moves"},
    {"add.sat.s32",
     s32,
     "$ = add_sat($, a); FENCE_32($)",
     {3, 0, 1},
     "",
     "32-bit addition that saturates",
     "PoCL tests both signs, with predicted branches, before it adds"},
    {"sad.u32",
     u32,
     "$ = abs_diff($, a) + b; FENCE_32($)",
     {100, 3, 7},
     conditional_move,
     "absolute difference of unsigned integers, added to another",
     "two subtractions, a choice between them, an addition"},
    {"min.s32",
     s32,
     "{ int m = a; FENCE_BOTH($, m); $ = min($, m); FENCE_32($); }",
     {100, 0, 7},
     conditional_move,
     "",
     choice},
    {"max.s32",
     s32,
     "{ int m = a; FENCE_BOTH($, m); $ = max($, m); FENCE_32($); }",
     {5, 0, 7},
     conditional_move,
     "",
     choice},
    {"min.u32",
     u32,
     "{ uint m = a; FENCE_BOTH($, m); $ = min($, m); FENCE_32($); }",
     {100, 0, 7},
     conditional_move,
     "",
     choice},
    {"max.u32",
     u32,
     "{ uint m = a; FENCE_BOTH($, m); $ = max($, m); FENCE_32($); }",
     {5, 0, 7},
     conditional_move,
     "",
     choice},
    {"div.u32", u32, "$ = a / $; FENCE_32($)", {1000003, 0, 1021}, "divl?", "", divide},
    {"rem.s32", s32, "$ = a % $ + b; FENCE_32($)", {1000003, 1021, 1021}, "idivl?", "", addition},
    {"rem.u32", u32, "$ = a % $ + b; FENCE_32($)", {1000003, 1021, 1021}, "divl?", "", addition},
    {"or.b32", b32, "$ = $ | a; FENCE_32($)", {85, 0, 12345}, "orl?", ""},
    {"not.b32", b32, "$ = ~$; FENCE_32($)", {0, 0, 12345}, "notl?", ""},
    {"lop3.b32",
     b32,
     "$ = bitselect(a, b, $); FENCE_32($)",
     {0x5bd1e995, 0x2545f491, 12345},
     "andnl?",
     "logic of three operands; here bitselect, chained through the selector",
     "x86-64 has logic of two operands: and, and-not, or"},
    {"shr.u32", u32, "$ = $ >> a; FENCE_32($)", {1, 0, 4e9}, "(shrl?|shrxl?)", ""},
    {"shr.s32", s32, "$ = $ >> a; FENCE_32($)", {1, 0, -2e9}, "(sarl?|sarxl?)", ""},
    {"shf.l.wrap.b32", b32, "$ = rotate($, a); FENCE_32($)", {7, 0, 12345}, "(roll?|shldl?)", ""},
    {"popc.b32", b32, "$ = popcount($); FENCE_32($)", {0, 0, 12345}, "popcntl?", "", cleared},
    {"clz.b32", b32, "$ = clz($); FENCE_32($)", {0, 0, 12345}, "(lzcntl?|bsrl?)", ""},
    {"bfind.u32",
     b32,
     "$ = 31 - clz($ | 1); FENCE_32($)",
     {0, 0, 12345},
     "(lzcntl?|bsrl?)",
     "",
     "the lowest bit is set first, for zero has no highest bit; 31 less the leading zeros"},
    {"bfi.b32",
     b32,
     "$ = bitselect(a, $ << 3, 0xff8u); FENCE_32($)",
     {0x5bd1e995, 0, 12345},
     "andl?",
     "",
     "the field is shifted into place first and joined with the rest by or"},
    {"prmt.b32",
     b32,
     "$ = as_uint(shuffle2(as_uchar4($), as_uchar4(a), as_uchar4(b))); FENCE_32($)",
     {77, 0x02010003, 12345},
     "",
     "",
     "shuffle2 of bytes by a run-time mask: PoCL goes through memory, byte by byte"},
    {"slct.b32",
     s32,
     "{ int m = a, n = b; FENCE_BOTH($, m); FENCE_BOTH($, n); $ = select(m, n, $ < 4); "
     "FENCE_32($); }",
     {3, 5, 4},
     conditional_move,
     "choice between two integers by the chain's value (select)",
     choice},
});

}  // namespace

std::span<const Row> opencl_integer_rows() { return rows; }

}  // namespace occupipe::bench
