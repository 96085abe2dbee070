// SPDX-License-Identifier: MIT
#include "cli/kernels_in_request.h"

#include <fmt/format.h>

#include <cstdio>

#include "ask/shipped_files.h"
#include "core/error.h"
#include "core/files/files.h"

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

bool tells_kernels_in(const KernelsInRequest& request) {
    const KernelsInRequest none;
    return tells_launch(request.execution) || request.step != none.step ||
           request.sample != none.sample || request.classes != none.classes;
}

bool asks_for_machine_code(const KernelsInRequest& request) {
    const std::string& file = request.execution.kernels;
    if (file.empty() ? !request.execution.launch.empty() : analysis::names_kernels(file))
        return true;
    if (tells_kernels_in(request))
        throw InputError(fmt::format(
            "{}: --launch, --arch, --compiler-option, --kernel, --grid, --block, --shared-bytes, "
            "--clang, --args, --step, --sample and --classes go with CUDA (.cu), OpenCL C (.cl), "
            "PTX (.ptx) and machine code "
            "(.cubin)",
            file.empty() ? "which kernel?" : file));
    return false;
}

analysis::KernelIn read_kernel_in(const KernelsInRequest& request, const LaunchPlan& plan,
                                  const GpuProfile* profile) {
    ExecutionRequest execution = request.execution;
    if (profile != nullptr && execution.architecture.empty() && plan.architecture.empty() &&
        (kernels_of(execution, plan).ends_with(".cu") ||
         kernels_of(execution, plan).ends_with(".cl")))
        execution.architecture = analysis::architecture_of(*profile);
    const analysis::KernelFile file = read_kernels(execution, plan);
    analysis::KernelsInOptions options;
    options.kernel = execution.kernel;
    options.step = request.step;
    analysis::set_sample(request.sample, options);
    options.classes = request.classes;
    options.memory_cores = request.memory_cores;
    if (profile != nullptr) options.known = analysis::known_names(*profile);
    options.execute = [&](extract::PlanRun& run, extract::PlanOptions plan_options) {
        return run_watched(run, execution, std::move(plan_options));
    };
    analysis::KernelIn in = analysis::kernel_in(plan, file, options);
    for (const std::string& line : in.warnings) fmt::print(stderr, "occupipe: warning: {}\n", line);
    return in;
}

std::string kernel_path(const KernelsInRequest& request) {
    if (asks_for_machine_code(request))
        return kernels_of(request.execution, plan_of(request.execution));
    if (request.execution.kernels.empty())
        throw InputError("which kernel? KERNEL is a file or a shipped name");
    return analysis::shipped_kernel(request.execution.kernels);
}

KernelInput read_kernel_input(const KernelsInRequest& request, const GpuProfile& profile) {
    KernelInput input;
    input.file = request.execution.kernels;
    if (!asks_for_machine_code(request)) {
        input.kernel = read_kernel(kernel_path(request));
        return input;
    }
    const LaunchPlan plan = plan_of(request.execution);
    input.file = kernels_of(request.execution, plan);
    input.machine_code = read_kernel_in(request, plan, &profile);
    input.kernel = input.machine_code->kernel();
    input.assumptions = input.machine_code->assumptions;
    return input;
}

}  // namespace occupipe::cli
