// SPDX-License-Identifier: MIT
// A sequential program, compiled with counters in one of its functions and run: its workload. Needs
// LLVM 19's programs and the passes of automatch/instrument, which are built where LLVM's headers
// are.
//
//   ProgramRun run{.sources = {"jacobi.c"}, .kernel = "jacobi", .arguments = {"1000"}};
//   const Workload w = analyse_program(run, {});
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "automatch/workload.h"

namespace occupipe::automatch {

struct ProgramRun {
    std::vector<std::filesystem::path> sources;  // .c, .cc, .cpp, .cxx, .ll, .bc
    std::string kernel;                          // a function, by its name in the source
    std::vector<std::string> arguments;          // of the program
    std::vector<std::string> flags;              // of the compiler: -I…, -D…
    bool distances = true;                       // also stack distances, which take longer
    // A store comes a level after what lay in its place; else only true dependences count.
    bool order_memory = false;
    std::vector<std::int64_t> capacities;  // distances to be counted one by one
};

// Throws DeviceError: LLVM 19 or the passes are not there (says what to install). InputError: the
// program cannot be compiled, counted or run; what the tool said is in the message. A run that was
// interrupted or crashed gives what it had counted, `partial` saying so. `note` gets lines about
// the steps, and while the program runs, every ten seconds from the second on.
// A line `// occupipe: sync` between two statements of a source is a synchronisation each time that
// it is passed; then no others are looked for.
Workload analyse_program(const ProgramRun& run,
                         const std::function<void(const std::string&)>& note);

}  // namespace occupipe::automatch
