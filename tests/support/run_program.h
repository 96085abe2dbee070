// SPDX-License-Identifier: MIT
#pragma once

#include <csignal>
#include <string>
#include <vector>

namespace occupipe::cli::testing {

struct ProgramRun {
    int exit_code = 0;
    std::string out;
    std::string err;
    double peak_bytes =
        0;  // of memory; at least what the test itself had when it started the program
};

// Runs the built program with these arguments, in the source folder. `environment`: "NAME=value".
// signal_after_s > 0: sends `signal` then. exit_code is 128 + N when signal N ended the program.
ProgramRun run_program(const std::vector<std::string>& arguments,
                       const std::vector<std::string>& environment = {}, double signal_after_s = 0,
                       int signal = SIGINT);

// The same, but the signal is sent once the program has written `awaited` to its error output,
// however long that takes; not at all where the program ends before.
ProgramRun run_program_until(const std::vector<std::string>& arguments,
                             const std::vector<std::string>& environment,
                             const std::string& awaited, int signal = SIGINT);

// The program finds NVRTC here, so that it can compile CUDA kernels.
bool program_has_nvrtc();

inline constexpr const char* no_nvrtc =
    "NVRTC is not here (tools/setup.sh --wheels fetches it): no CUDA kernel can be compiled";

}  // namespace occupipe::cli::testing
