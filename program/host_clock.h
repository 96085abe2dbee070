// SPDX-License-Identifier: MIT
// The clock of the host that a program reads. With --clock predicted, libhost_clock.so, which is
// loaded before all others, answers clock_gettime() and its like, and stands still while the
// runtime is at work; then it goes on by the predicted time that the host has waited for.
#pragma once

#include <cstdint>

extern "C" {
// Of libhost_clock.so; nullptr: it is not loaded. Returns what CLOCK_MONOTONIC shows, in ns.
[[gnu::weak]] std::int64_t occupipe_clock_stop();
// `later`: ns, by which it is later than when it stopped.
[[gnu::weak]] void occupipe_clock_go_on(std::int64_t later);
}

namespace occupipe::program {

// Of this machine, whatever the program is shown.
double real_seconds();

}  // namespace occupipe::program
