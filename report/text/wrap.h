// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace occupipe::report {

// Text broken at blanks into lines of at most 100 columns, each indented; `mark` before the first
// one ("- "), blanks of its width before the others. Ends with a newline.
std::string wrapped(std::string_view text, std::size_t indent, std::string_view mark = "");

}  // namespace occupipe::report
