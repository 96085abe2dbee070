// SPDX-License-Identifier: MIT
// Progress of long work, and how to stop it.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "bench/harness/harness.h"

namespace occupipe::cli {

// While alive, the first SIGINT or SIGTERM sets stopped(); a second one ends the program as usual.
class StopOnSignal {
public:
    StopOnSignal();
    ~StopOnSignal();
    StopOnSignal(const StopOnSignal&) = delete;
    StopOnSignal& operator=(const StopOnSignal&) = delete;
    static const std::atomic<bool>& stopped();
};

// A progress line on stderr: rewritten in place on a terminal, else one line every ten seconds.
std::function<void(const bench::Progress&)> progress_printer();

// "1:02:03", "2:03"
std::string duration_text(double seconds);

}  // namespace occupipe::cli
