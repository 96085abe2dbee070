// SPDX-License-Identifier: MIT
#include "automatch/annotations.h"

#include <fmt/format.h>

#include <sstream>

#include "core/error.h"

namespace occupipe::automatch {
namespace {

std::string trimmed(const std::string& text) {
    const std::size_t begin = text.find_first_not_of(" \t\r");
    if (begin == std::string::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

}  // namespace

AnnotatedSource annotated_source(const std::string& text, const std::filesystem::path& file) {
    constexpr std::string_view word = "occupipe:";
    AnnotatedSource result;
    std::istringstream lines(text);
    char before = ';';  // the last letter of the program
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        const std::size_t comment = line.find("//");
        const std::string code = trimmed(line.substr(0, comment));
        if (!code.empty() && code.front() != '#') before = code.back();
        const std::string said =
            comment == std::string::npos ? "" : trimmed(line.substr(comment + 2));
        if (said.starts_with(word)) {
            const std::string what = trimmed(said.substr(word.size()));
            if (what != "sync")
                throw InputError(file.string(), {number, 0}, {},
                                 fmt::format("there is no annotation '{}'; there is "
                                             "`// occupipe: sync`",
                                             what));
            if (std::string_view(";{}:").find(before) == std::string_view::npos)
                throw InputError(file.string(), {number, 0}, {},
                                 "`// occupipe: sync` does not stand between two statements");
            line = line.substr(0, comment) + " occupipe_match_sync();";
            ++result.synchronisations;
        }
        result.text += line + "\n";
    }
    return result;
}

}  // namespace occupipe::automatch
