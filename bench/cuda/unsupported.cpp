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
    Reason{"st.global.u32", "st.global.f32 stores to ever new words; this is about one word"},
    Reason{"*", "a function of OpenCL C's library; PTX has no such instruction"},
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
    if (row.least_architecture > architecture) {
        return fmt::format("measured on GPUs of sm_{} and later only", row.least_architecture);
    }
    if (row.last_architecture < architecture) {
        return fmt::format("sm_{} was the last to have it", row.last_architecture);
    }
    return std::nullopt;
}

}  // namespace occupipe::bench
