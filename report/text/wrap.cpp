// SPDX-License-Identifier: MIT
#include "report/text/wrap.h"

#include <sstream>

#include "report/text/text_table.h"

namespace occupipe::report {
namespace {

constexpr std::size_t columns = 100;

}  // namespace

std::string wrapped(std::string_view text, std::size_t indent, std::string_view mark) {
    const std::string margin(indent + mark.size(), ' ');
    std::string result;
    std::string line = std::string(indent, ' ') + std::string(mark);
    bool empty = true;
    std::istringstream words{std::string(text)};
    for (std::string word; words >> word;) {
        if (!empty && display_width(line) + 1 + display_width(word) > columns) {
            result += line + '\n';
            line = margin;
            empty = true;
        }
        line += (empty ? "" : " ") + word;
        empty = false;
    }
    return result + line + '\n';
}

}  // namespace occupipe::report
