// SPDX-License-Identifier: MIT
#include "automatch/annotations.h"

#include <fmt/format.h>

#include <sstream>

#include "core/error.h"
#include "core/text.h"

namespace occupipe::automatch {

AnnotatedSource annotated_source(const std::string& text, const std::filesystem::path& file) {
    constexpr std::string_view word = "occupipe:";
    AnnotatedSource result;
    std::istringstream lines(text);
    char before = ';';  // the last letter of the program
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        const std::size_t comment = line.find("//");
        const std::string_view all = line;
        const std::string_view code = trimmed(all.substr(0, comment));
        if (!code.empty() && code.front() != '#') before = code.back();
        const std::string_view said =
            comment == all.npos ? std::string_view() : trimmed(all.substr(comment + 2));
        if (said.starts_with(word)) {
            const std::string_view what = trimmed(said.substr(word.size()));
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
