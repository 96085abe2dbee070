// SPDX-License-Identifier: MIT
#include "program/host_clock.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace occupipe::program {

double real_seconds() {
    timespec now{};
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace occupipe::program
