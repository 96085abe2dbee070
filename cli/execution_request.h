// SPDX-License-Identifier: MIT
// Kernels in: what `execute` and `extract` ask about files, launches and the limits of executing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ask/kernel_file.h"
#include "cli/option.h"
#include "core/launch_plan.h"
#include "extract/run_plan.h"

namespace occupipe::cli {

struct ExecutionRequest {
    std::string kernels;  // .cu, .cl, .ptx, .cubin; empty: the launch file's source
    std::string launch;
    std::string architecture;
    std::vector<std::string> compiler_options;
    std::string clang;  // empty: searched
    std::string kernel;
    std::string grid, block;
    std::uint32_t shared_bytes = 0;
    // `launch` holds the launch, and grid, block and shared memory that are given here replace
    // those of its launches of the kernel.
    bool changes_launches = false;
    std::optional<std::uint32_t> changed_shared_bytes;
    std::string arguments;
    int threads = 0;
    std::string limit;
};

// --launch, --arch, --compiler, --kernel, --grid, --block, --shared-bytes, --args;
// under this heading of the help.
void add_launch_options(const Command& command, ExecutionRequest& request,
                        const std::string& kernel_help, const std::string& heading = "Options");

// The positional argument, add_launch_options(), --threads and --limit.
void add_execution_options(const Command& command, ExecutionRequest& request,
                           const std::string& kernel_help);

// Whether any of add_launch_options() is given.
bool tells_launch(const ExecutionRequest& request);

// The launch file, or one launch as the command line describes it. Throws InputError.
LaunchPlan plan_of(const ExecutionRequest& request);

// The file that holds the kernels. Throws InputError where none is named.
std::string kernels_of(const ExecutionRequest& request, const LaunchPlan& plan);

// Reads it, and compiles it where that is needed; its note goes to stderr.
analysis::KernelFile read_kernels(const ExecutionRequest& request, const LaunchPlan& plan);

// run.execute() with progress on stderr after two seconds, the request's threads and limit, and
// Ctrl-C. Throws Interrupted, and Reported with the exit code of a limit.
std::vector<extract::LaunchResult> run_watched(extract::PlanRun& run,
                                               const ExecutionRequest& request,
                                               extract::PlanOptions options);

}  // namespace occupipe::cli
