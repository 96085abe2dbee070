// SPDX-License-Identifier: MIT
#pragma once

#include <exception>

namespace occupipe::cli {

// Ends the program with an exit code; everything has been printed already.
struct Reported : std::exception {
    explicit Reported(int code) : exit_code(code) {}
    int exit_code;
};

}  // namespace occupipe::cli
