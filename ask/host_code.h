// SPDX-License-Identifier: MIT
// Code for the host that a compiler does not take, in CUDA source after the preprocessor. Kernels
// do not need it; what else it instantiates stays.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace occupipe::analysis {

// How much goes around each place that `said`, nvcc's messages, calls wrong.
enum class HostCode { statements, functions };

// The text with blanks there: in a function for the host its statement or its whole body, outside
// of functions the declaration; for data of a class the whole class, unless it has code for the
// device. Lines stay where they are. Nothing: no error is in code for the host alone.
std::optional<std::string> without_failing_host_code(std::string_view text, std::string_view said,
                                                     HostCode goes);

}  // namespace occupipe::analysis
