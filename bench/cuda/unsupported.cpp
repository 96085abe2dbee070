// SPDX-License-Identifier: MIT
#include "bench/cuda/unsupported.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>

namespace occupipe::bench {
namespace {

struct Reason {
    const char* ids;  // shell pattern
    const char* why;
};

// Of rows that only OpenCL C has. First match.
constexpr std::array reasons = {
    Reason{"abs.f*", "a modifier of another instruction's operand, no instruction of its own"},
    Reason{"neg.f*", "a modifier of another instruction's operand, no instruction of its own"},
    Reason{"sub.s32", "the same instruction as add.s32, with a negated operand"},
    Reason{"sub.s64", "the same instructions as add.s64, with a negated operand"},
    Reason{"mul24.*", "sign extensions and the multiplication of mul.s32"},
    Reason{"mad24.*", "sign extensions and the multiply-add of mad.s32"},
    Reason{"add.sat.*",
           "comparisons and selections around an addition before Blackwell, one instruction from "
           "then on: there is no one count to prove"},
    Reason{"m[ia][nx].s64",
           "two comparisons and two selections, or one instruction on some Blackwell GPUs: there "
           "is no one count to prove"},
    Reason{"div.s64", "a function of the compiler's is called; the receipt cannot follow it"},
    Reason{"rem.s64", "a function of the compiler's is called; the receipt cannot follow it"},
    Reason{"popc.b64",
           "popc.b32 of both halves; the next one in a chain would know its upper half to be zero"},
    Reason{"clz.b64",
           "clz.b32 of the halves; the next one in a chain would know its upper half to be zero"},
    Reason{"cvt.s64.s32", "the upper half is made by one shift (shr.s32)"},
    Reason{"*x[24]", "PTX calculates vectors element by element"},
    Reason{"tcgen05.*",
           "works on a tensor memory that kernels allocate, and that no row prepares yet"},
    Reason{"st.global.u32", "st.global.f32 stores to ever new words; this is about one word"},
    Reason{"*", "a function of OpenCL C's library; PTX has no such instruction"},
};

// Of PTX that the named architectures only have as a sequence of others: no one instruction to
// measure. First match.
struct Gap {
    const char* ids;  // shell pattern
    int first, last;  // architectures
    const char* why;
};

constexpr std::array gaps = {
    Gap{"mma.m16n8k32.f??.e[45]m[23]", 90, 119,
        "conversions and two multiplications of halves there: no instruction of its own"},
    Gap{"mma.sp.m16n8k64.f32.e4m3", 90, 119,
        "conversions and two multiplications of halves there: no instruction of its own"},
    Gap{"viadd*", 120, 999, "an addition and a comparison there"},
    Gap{"vim[ai][xn]3.*", 120, 999, "two comparisons there"},
    Gap{"m[ia][nx]3.f32", 120, 999, "two comparisons there"},
    Gap{"*.f32x2", 120, 999, "an instruction for each of the two there"},
    Gap{"redux.sync.min.f32", 120, 999, "GPUs of sm_100a and its kin alone have it"},
    Gap{"cp.async.bulk.multicast.*", 120, 999, "calls a function there"},
    Gap{"mma.m16n8k64.s32.s4", 90, 999, "calls a function that makes bytes of the four bits"},
    Gap{"mma.m16n8k256.s32.b1", 100, 999, "calls a function that makes bytes of the bits"},
    Gap{"mma.m16n8k*.f64", 91, 999, "multiplications 8x8x4 (mma.m8n8k4.f64) one after the other"},
};

}  // namespace

std::optional<std::string> cuda_unsupported(const Row& row, int architecture) {
    if (row.pattern == Pattern::empty_loop) {
        return "the assembler removes a loop with nothing in it; fma.f32.body1, body4 and body16 "
               "show what a loop costs";
    }
    if (row.ptx.empty()) {
        const auto found = std::ranges::find_if(reasons, [&](const Reason& reason) {
            return fnmatch(reason.ids, std::string(row.id).c_str(), 0) == 0;
        });
        return found->why;
    }
    const auto gap = std::ranges::find_if(gaps, [&](const Gap& one) {
        return one.first <= architecture && architecture <= one.last &&
               fnmatch(one.ids, std::string(row.id).c_str(), 0) == 0;
    });
    if (gap != gaps.end()) return gap->why;
    if (row.least_architecture > architecture) {
        return fmt::format("measured on GPUs of sm_{} and later only", row.least_architecture);
    }
    if (row.last_architecture < architecture) {
        return fmt::format("sm_{} was the last to have it", row.last_architecture);
    }
    return std::nullopt;
}

}  // namespace occupipe::bench
