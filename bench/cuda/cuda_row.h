// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <string_view>

#include "bench/instructions/instruction_table.h"

namespace occupipe::bench {

// A row of a register-to-register instruction in the order in which one reads it. `step` is one of
// the prelude's OP_ macros around PTX text, in which %0 is the chain's value, %1 and %2 the
// operands a and b. "@go" in it: a predicate that always holds keeps the assembler from folding
// the step into its neighbour.
struct CudaRow {
    std::string_view id;
    DataType type;
    std::string_view step;
    std::array<double, 3> values;  // a, b, x
    std::string_view ptx;
    std::string_view sass;
    std::string_view meaning;
    std::string_view also = {};
    int sass_length = 1;
    int least_architecture = 75;
    int sass_count = 1;
    int most_chains = 8;
    bool alternates = false;
    std::string_view sass_with = {};

    constexpr Row row() const {
        return Row{.id = id,
                   .type = type,
                   .pattern = Pattern::chain,
                   .step = step,
                   .a = values[0],
                   .b = values[1],
                   .x = values[2],
                   .ptx = ptx,
                   .sass = sass,
                   .x86 = {},
                   .sass_also = also,
                   .x86_also = {},
                   .foldable = true,
                   .meaning = meaning,
                   .sass_length = sass_length,
                   .sass_count = sass_count,
                   .least_architecture = least_architecture,
                   .most_chains = most_chains,
                   .alternates = alternates,
                   .sass_with = sass_with};
    }
};

template <std::size_t count>
constexpr std::array<Row, count> table_rows(const CudaRow (&rows)[count]) {
    std::array<Row, count> result = {};
    for (std::size_t i = 0; i < count; ++i) result[i] = rows[i].row();
    return result;
}

}  // namespace occupipe::bench
