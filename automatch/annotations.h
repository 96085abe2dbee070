// SPDX-License-Identifier: MIT
// What the author of a program tells in comments: `// occupipe: sync` between two statements is a
// global synchronisation of the parallel version, each time that it is passed.
#pragma once

#include <filesystem>
#include <string>

namespace occupipe::automatch {

struct AnnotatedSource {
    std::string text;  // with a call of occupipe_match_sync() in place of each; the same lines
    int synchronisations = 0;
};

// Throws InputError naming file and line: an annotation that there is not, or one that does not
// stand between statements, where a call in its place would change the program.
AnnotatedSource annotated_source(const std::string& text, const std::filesystem::path& file);

}  // namespace occupipe::automatch
