// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace occupipe {

// The few candidates that a mistyped name may have meant, nearest first; empty where none is near.
std::vector<std::string> near_names(std::string_view name,
                                    const std::vector<std::string>& candidates);

// "; near: saxpy, saxpby", or nothing.
std::string near_text(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace occupipe
