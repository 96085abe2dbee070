// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include "analysis/shipped_files.h"
#include "cli/commands.h"
#include "cli/execution_request.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/suggestions.h"
#include "extract/kernel_graph.h"
#include "extract/naming.h"
#include "extract/run_plan.h"
#include "extract/signature.h"
#include "report/text/extraction.h"

namespace occupipe::cli {
namespace {

constexpr const char* about =
    "Input: CUDA kernels and how they are launched, as 'occupipe execute' takes them.\n"
    "Output: one launch as a kernel file: the instructions that its warps executed, with loops\n"
    "and dependences, for 'occupipe predict KERNEL --profile P'; and what stands in it.\n"
    "Warps that executed the same instructions with the same lanes are one class; rare classes\n"
    "are left out, and the share that the others stand for is said.";

constexpr const char* examples =
    "occupipe extract saxpy.cu --arch sm_90 --launch saxpy.yaml -o saxpy.kernel.yaml\n"
    "occupipe extract saxpy.cu --arch sm_75 --grid 64 --block 256 \\\n"
    "    --args 'x=f32[16384]:random(-1,1) y=f32[16384]:iota 2.5 16384' --profile rtx-2070\n"
    "occupipe predict saxpy.kernel.yaml --profile rtx-2070";

struct Request {
    ExecutionRequest execution;
    std::size_t step = 1;
    std::string profile;
    std::size_t classes = 8;
    std::string output;
    bool force = false;
};

// The launches of the plan in which this kernel is launched, in order.
void find_steps(const std::vector<PlanStep>& steps, const std::string& kernel,
                const isa::Cubin& cubin, std::vector<const KernelLaunch*>& found) {
    for (const PlanStep& step : steps) {
        if (const auto* launch = std::get_if<KernelLaunch>(&step)) {
            if (kernel.empty() || extract::find_kernel(cubin, launch->kernel).name == kernel)
                found.push_back(launch);
        } else if (const auto* repeat = std::get_if<RepeatSteps>(&step)) {
            find_steps(repeat->steps, kernel, cubin, found);
        }
    }
}

const KernelLaunch& chosen_launch(const Request& request, const LaunchPlan& plan,
                                  const isa::Cubin& cubin) {
    std::string kernel;
    if (!request.execution.kernel.empty())
        kernel = extract::find_kernel(cubin, request.execution.kernel).name;
    std::vector<const KernelLaunch*> found;
    find_steps(plan.steps, kernel, cubin, found);
    if (found.empty())
        throw InputError(fmt::format("--kernel {}: it is in the file, but nothing launches it",
                                     request.execution.kernel));
    if (request.step > found.size())
        throw InputError(fmt::format("--step {}: there {} {} such launch{}", request.step,
                                     found.size() == 1 ? "is" : "are", found.size(),
                                     found.size() == 1 ? "" : "es"));
    return *found[request.step - 1];
}

// `profile`: a path; empty: no names.
std::set<std::string> known_names(const std::string& profile) {
    std::set<std::string> names;
    if (profile.empty()) return names;
    for (const InstructionTiming& one : read_profile(profile).instructions) names.insert(one.name);
    return names;
}

void extract_kernel(const Request& request) {
    const LaunchPlan plan = plan_of(request.execution);
    const std::string kernels = kernels_of(request.execution, plan);
    const std::string profile =
        request.profile.empty() ? "" : analysis::shipped_profile(request.profile).string();
    keep_apart(
        {{"KERNELS", kernels}, {"--launch", request.execution.launch}, {"--profile", profile}},
        {{"-o", request.output}});
    const std::set<std::string> known = known_names(profile);
    const KernelFile file = read_kernels(request.execution, plan);
    const KernelLaunch& launch = chosen_launch(request, plan, file.cubin);

    extract::PlanRun run(plan, file.cubin, file.ptx);
    const std::uint64_t groups = std::uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
    extract::StreamObserver observer(extract::all_groups(groups));
    bool watched = false;  // repetitions of the launch are not
    extract::PlanOptions options;
    options.observe = [&](const KernelLaunch& now) -> isa::Observer* {
        if (&now != &launch || watched) return nullptr;
        watched = true;
        return &observer;
    };
    const auto results = run_watched(run, request.execution, options);
    const auto result = std::ranges::find(results, &launch, &extract::LaunchResult::launch);

    report::ExtractionReport report;
    report.extracted = extract::extract_kernel(
        extract::readable_name(result->kernel->name), observer.streams(), *result->kernel,
        *result->execution.code, extract::names_known_to(known), request.classes);
    report.architecture = *file.cubin.architecture;
    report.occupancy = result->occupancy;
    report.groups = groups;
    Kernel& kernel = report.extracted.kernel;
    kernel.order = Order::in_order;
    kernel.launch = Launch{.group_warps = result->occupancy.group_warps,
                           .concurrent_groups = result->occupancy.groups,
                           .groups = static_cast<std::int64_t>(groups)};
    if (!request.profile.empty()) report.known = known;
    if (request.output.empty()) {
        fmt::print("{}", format_kernel(kernel));
        fmt::print(stderr, "{}", report::to_text(report));
        return;
    }
    write_text_file(request.output, format_kernel(kernel),
                    request.force ? Overwrite::yes : Overwrite::no);
    fmt::print("{}", report::to_text(report));
}

}  // namespace

void add_extract(CLI::App& app) {
    const auto request = std::make_shared<Request>();
    CLI::App* const command = app.add_subcommand(
        "extract", "Turn an executed CUDA kernel into a kernel file for 'predict'");
    add_help_end(*command, {.text = about,
                            .exit_codes = {exit_limit_reached, exit_interrupted},
                            .examples = examples});
    add_execution_options(*command, request->execution,
                          "Which kernel (default: that of the first launch)");
    command
        ->add_option("--step", request->step,
                     "Which of the launches of that kernel in the launch file, from 1 on")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str()
        ->type_name("N");
    command
        ->add_option("--profile", request->profile,
                     "Call instructions as this GPU profile does, where there is a choice, and\n"
                     "say what it lacks")
        ->type_name("PROFILE");
    command->add_option("--classes", request->classes, "At most so many classes of warps")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str()
        ->type_name("N");
    command
        ->add_option("-o,--output", request->output,
                     "Where the kernel file goes (default: stdout, what stands in it to stderr)")
        ->type_name("FILE");
    command->add_flag("--force", request->force, "Replace the file if it exists");
    command->callback([request] { extract_kernel(*request); });
}

}  // namespace occupipe::cli
