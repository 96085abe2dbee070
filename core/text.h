// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace occupipe {

inline constexpr std::string_view blanks = " \t\r\n";

// The parts between any of the separators that are not empty. They refer to the text.
std::vector<std::string_view> words_in(std::string_view text, std::string_view separators = blanks);

std::string_view trimmed(std::string_view text, std::string_view blank = blanks);

// Of A to Z, whatever the locale.
std::string lower_case(std::string_view text);

}  // namespace occupipe
