// SPDX-License-Identifier: MIT
#include "cli/kernels_in_request.h"

#include <fmt/format.h>

#include <cstdio>

namespace occupipe::cli {

void add_extraction_options(const Command& command, KernelsInRequest& request,
                            const std::string& heading) {
    command
        .add_option("--sample step|--step", request.step,
                    "Which of the launches of that kernel in the launch file, from 1 on")
        .check(in_range(1, 1'000'000))
        .show_default()
        .type_name("N")
        .group(heading);
    command
        .add_option(
            "--sample", request.sample,
            "Groups that are executed and stand for the launch's: the first, the last, and\n"
            "N at random; auto: 8, more where they differ much")
        .show_default()
        .type_name("auto|all|N")
        .group(heading);
    command.add_option("--sample classes|--classes", request.classes, "Classes of warps at most")
        .check(in_range(1, 1000))
        .show_default()
        .type_name("N")
        .group(heading);
}

void add_kernels_in_options(const Command& command, KernelsInRequest& request) {
    add_launch_options(command, request.execution,
                       "Which kernel of the file (default: that of the first launch)",
                       kernels_in_heading);
    add_extraction_options(command, request, kernels_in_heading);
}

analysis::Reading reading_of(const ExecutionRequest& request) {
    return {.execute =
                [&request](extract::PlanRun& run, extract::PlanOptions options) {
                    return run_watched(run, request, std::move(options));
                },
            .compiled =
                [](const std::string& note) { fmt::print(stderr, "occupipe: note: {}\n", note); },
            .warn =
                [](const std::string& warning) {
                    fmt::print(stderr, "occupipe: warning: {}\n", warning);
                }};
}

analysis::KernelIn read_kernel_in(const KernelsInRequest& request, const LaunchPlan& plan,
                                  const GpuProfile* profile) {
    return analysis::read_code(request.execution, request, plan, profile,
                               reading_of(request.execution));
}

}  // namespace occupipe::cli
