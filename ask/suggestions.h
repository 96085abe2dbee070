// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace occupipe::analysis {

// "'fma.f23' is not an instruction; near: fma.f32, fma.f64".
std::string unknown_instruction(const std::string& name);

}  // namespace occupipe::analysis
