// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "bench/instructions/instruction_table.h"

namespace occupipe::bench {

// A row as OpenCL C says it, in the order in which one reads it. `step` is OpenCL C on the chain's
// value $ and the operands a and b; # is the step's number; it ends in a FENCE_ macro, which hides
// the value from the optimiser. Where THE TABLE has a CUDA row of the same id, it means the same.
struct OpenClRow {
    std::string_view id;
    DataType type;
    std::string_view step;
    std::array<double, 3> values;  // a, b, x
    std::string_view x86;          // see Row; empty: the count is not proved, `also` says why
    std::string_view meaning;
    std::string_view also = {};       // Row::x86_also
    std::string_view setup = {};      // OpenCL C before the timed part
    std::string_view extension = {};  // needed from the device
    int x86_count = 1;

    // Stores, and atomic operations whose old value is not asked for.
    constexpr bool nothing_waits() const { return id.starts_with("st.") || id.starts_with("red."); }

    constexpr Row row() const {
        return Row{.id = id,
                   .type = type,
                   .pattern = Pattern::chain,
                   .step = step,
                   .a = values[0],
                   .b = values[1],
                   .x = values[2],
                   .ptx = {},
                   .sass = {},
                   .x86 = x86,
                   .sass_also = {},
                   .x86_also = also,
                   .setup = setup,
                   .opencl = step,
                   .opencl_extension = extension,
                   .x86_count = x86_count,
                   .foldable = true,
                   .meaning = meaning,
                   .order = nothing_waits() ? Order::none : Order::registers};
    }
};

template <std::size_t count>
constexpr std::array<Row, count> table_rows(const OpenClRow (&rows)[count]) {
    std::array<Row, count> result = {};
    for (std::size_t i = 0; i < count; ++i) result[i] = rows[i].row();
    return result;
}

}  // namespace occupipe::bench
