// SPDX-License-Identifier: MIT
#include "isa/machine/semantics.h"

#include <unordered_map>

namespace occupipe::isa {
namespace {

std::unordered_map<std::string_view, const Semantics*> collect() {
    std::unordered_map<std::string_view, const Semantics*> all;
    for (const auto rows :
         {integer_semantics(), bit_semantics(), move_semantics(), memory_semantics(),
          atomic_semantics(), control_semantics(), collective_semantics(), float_semantics(),
          half_semantics(), double_semantics(), conversion_semantics(), function_semantics(),
          matrix_semantics()}) {
        for (const Semantics& row : rows) all.emplace(row.opcode, &row);
    }
    return all;
}

}  // namespace

const Semantics* semantics_of(std::string_view opcode) {
    static const std::unordered_map<std::string_view, const Semantics*> all = collect();
    const auto found = all.find(opcode);
    return found == all.end() ? nullptr : found->second;
}

bool wide_vectors() {
#if defined(__x86_64__)
    static const bool wide = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
                             __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt")
#if !defined(__clang__)  // clang 14 does not know the word; whoever has BMI2 has it, too
                             && __builtin_cpu_supports("lzcnt")
#endif
        ;
    return wide;
#else
    return false;
#endif
}

}  // namespace occupipe::isa
