// SPDX-License-Identifier: MIT
// AutoMatch is a program of its own, `automatch`, which lies beside this one. What was a command of
// this program runs it.
#pragma once

#include <string>
#include <vector>

namespace occupipe::cli {

// Where the command line is an old spelling (`match …`, `measure --match …`): runs automatch in
// place of this program, with a hint on stderr. Throws std::runtime_error where automatch is
// missing.
void run_moved_command(const std::vector<std::string>& words);

// Whether that program is there.
bool has_automatch();

// `automatch WORDS…` in place of this program.
[[noreturn]] void become_automatch(const std::vector<std::string>& words);

// `automatch WORDS…`, and then on with this program.
struct AutomatchRun {
    int exit_code = 0;
    std::string said;  // stdout and stderr
};
AutomatchRun run_automatch(const std::vector<std::string>& words);

}  // namespace occupipe::cli
