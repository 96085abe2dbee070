// SPDX-License-Identifier: MIT
// Kernels in: what `execute` and `extract` ask about files, launches and the limits of executing.
#pragma once

#include <string>
#include <vector>

#include "ask/source.h"
#include "cli/option.h"
#include "core/launch_plan.h"
#include "extract/run_plan.h"

namespace occupipe::cli {

struct ExecutionRequest : analysis::CodeSource {
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

// Reads it, and compiles it where that is needed; its note goes to stderr.
analysis::KernelFile read_kernels(const ExecutionRequest& request, const LaunchPlan& plan);

// run.execute() with progress on stderr after two seconds, the request's threads and limit, and
// Ctrl-C. Throws Interrupted, and Reported with the exit code of a limit.
std::vector<extract::LaunchResult> run_watched(extract::PlanRun& run,
                                               const ExecutionRequest& request,
                                               extract::PlanOptions options);

}  // namespace occupipe::cli
