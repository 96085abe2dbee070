// SPDX-License-Identifier: MIT
#include "ask/suggestions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/instructions/instruction_table.h"
#include "core/suggestions.h"

namespace occupipe::analysis {
std::string unknown_instruction(const std::string& name) {
    std::vector<std::string> all;
    for (const bench::Row& row : bench::instruction_table()) all.emplace_back(row.id);
    const auto near = near_names(name, all);
    return fmt::format("'{}' is not an instruction; {}see 'occupipe list instructions'", name,
                       near.empty() ? "" : fmt::format("near: {}; ", fmt::join(near, ", ")));
}

}  // namespace occupipe::analysis
