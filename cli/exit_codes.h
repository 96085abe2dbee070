// SPDX-License-Identifier: MIT
#pragma once

namespace occupipe::cli {

// docs/reference/file-formats/, "Exit codes". tools/gpu_run.sh has 4 with the same meaning.
enum ExitCode {
    exit_ok = 0,
    exit_failed = 1,
    exit_bad_input = 2,
    exit_nothing_to_run_on = 3,
    exit_limit_reached = 4,
    exit_device_lost = 5,  // at one point, which is recorded: run the same command again
    exit_moved = 6,        // watch: a number is not what the stored profile says
    exit_interrupted = 130,
};

}  // namespace occupipe::cli
