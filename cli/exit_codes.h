// SPDX-License-Identifier: MIT
#pragma once

namespace occupipe::cli {

// docs/file-formats.md, "Exit codes". 4 is tools/gpu_run.sh's own.
enum ExitCode {
    exit_ok = 0,
    exit_failed = 1,
    exit_bad_input = 2,
    exit_nothing_to_run_on = 3,
    exit_device_lost = 5,  // at one point, which is recorded: the same command goes on
};

}  // namespace occupipe::cli
