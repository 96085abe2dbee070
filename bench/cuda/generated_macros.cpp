// SPDX-License-Identifier: MIT
#include "bench/cuda/generated_macros.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace occupipe::bench {
namespace {

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

// Every path is an instruction of its own, so that the paths cannot be merged again.
std::string divergence(int paths) {
    std::string cases;
    for (int i = 0; i < paths; ++i) {
        cases += fmt::format(
            "case {}: asm volatile(\"fma.rn.f32 %0, %0, %1, 0f{:08X};\" : \"+f\"(x) : \"f\"(a)); "
            "break; ",
            i, 0x3f400000 + i);
    }
    // The path is made unknown again in each step, so that the lanes reconverge after each.
    return fmt::format(
        "#define DIVERGE_{0}(x) {{ uint way = LANE % {0}u; asm volatile(\"\" : \"+r\"(way)); "
        "switch (way) {{ {1}}} }}\n",
        paths, cases);
}

}  // namespace

std::string cuda_product_macros() {
    std::string text;
    for (const ProductMacro& macro : macros) text += product(macro);
    return text;
}

std::string cuda_divergence_macros() {
    std::string text;
    for (const int paths : {2, 4, 8, 16, 32}) text += divergence(paths);
    return text;
}

}  // namespace occupipe::bench
