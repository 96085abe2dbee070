// SPDX-License-Identifier: MIT
// A program's run beside an earlier one:
//   NVIDIA GeForce RTX 3080 against before.json
//   kernel  launches    before   after   change
//   step         100  404.9 us  300 us  -25.9 %
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "program/journal.h"

namespace occupipe::report {

// What an earlier run took in each kernel, whatever the shapes of its launches.
struct EarlierRun {
    struct Kernel {
        std::string symbol;
        std::uint64_t launches = 0;
        std::vector<std::optional<double>> seconds;  // by profile; absent: not known
    };
    std::string file_name;
    std::vector<std::string> profiles;
    std::vector<Kernel> kernels;
};

// Of the text of an occupipe-program/1 file. Throws InputError naming file, line and key.
EarlierRun parse_earlier_run(const std::string& text, const std::string& file_name);

// A table for each profile of both, the greatest difference first.
std::string comparison_text(const EarlierRun& before, const program::Journals& after);

}  // namespace occupipe::report
