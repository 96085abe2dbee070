// SPDX-License-Identifier: MIT
#include "core/text.h"

#include <algorithm>

namespace occupipe {

std::vector<std::string_view> words_in(std::string_view text, std::string_view separators) {
    std::vector<std::string_view> words;
    std::size_t end = 0;
    while (true) {
        const std::size_t begin = text.find_first_not_of(separators, end);
        if (begin == text.npos) return words;
        end = std::min(text.find_first_of(separators, begin), text.size());
        words.push_back(text.substr(begin, end - begin));
    }
}

std::string_view trimmed(std::string_view text, std::string_view blank) {
    const std::size_t begin = text.find_first_not_of(blank);
    if (begin == text.npos) return {};
    return text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

std::string lower_case(std::string_view text) {
    std::string lower(text);
    for (char& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return lower;
}

}  // namespace occupipe
