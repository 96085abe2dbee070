// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace occupipe::report {

// Columns that UTF-8 text takes on a terminal: combining marks none, East Asian wide characters
// two, all others one.
std::size_t display_width(std::string_view text);

enum class Align { left, right };

struct TextTable {
    std::vector<std::string> header;
    std::vector<Align> align;  // one per column
    std::vector<std::vector<std::string>> rows;
};

// Columns padded to equal width, two blanks between them.
std::string plain_text(const TextTable& table);

// GitHub's Markdown, padded so that it reads as plain text, too.
std::string markdown(const TextTable& table);

}  // namespace occupipe::report
