// SPDX-License-Identifier: MIT
// Commands that are uses of another one, `smoke` of `measure`, and their names of earlier releases.
#pragma once

#include <string>
#include <vector>

#include "cli/option.h"

namespace occupipe::cli {

// Adds them, hidden from the program's --help and shown in that of the commands that they are uses
// of, which have to be there.
void add_uses(const Command& app);

struct CalledAs {
    std::vector<std::string>
        words;         // as the program's commands are called: "smoke", "-o", "a.json"
    std::string hint;  // where the command's old name was used
};

// Of the words of a command line behind the program: "measure", "--smoke", "-o", "a.json".
CalledAs called_as(std::vector<std::string> words);

}  // namespace occupipe::cli
