// SPDX-License-Identifier: MIT
// The clock of the host that a program reads. With --clock predicted, libhost_clock.so, which is
// loaded before all others, answers clock_gettime() and its like, and stands still while the
// runtime is at work; then it goes on by the predicted time that the host has waited for.
#pragma once

extern "C" {
// Of libhost_clock.so; nullptr: it is not loaded.
[[gnu::weak]] void occupipe_clock_stop();
// `seconds`: by which it is later than when it stopped.
[[gnu::weak]] void occupipe_clock_go_on(double seconds);
}

namespace occupipe::program {

// Of this machine, whatever the program is shown.
double real_seconds();

}  // namespace occupipe::program
