// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace occupipe::analysis {

// The few candidates that a mistyped name may have meant, nearest first; empty where none is near.
std::vector<std::string> near_names(std::string_view name,
                                    const std::vector<std::string>& candidates);

// "'fma.f23' is not an instruction; near: fma.f32, fma.f64".
std::string unknown_instruction(const std::string& name);

}  // namespace occupipe::analysis
