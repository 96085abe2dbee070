// SPDX-License-Identifier: MIT
#include "ask/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "ask/kernels_in.h"
#include "ask/launch_text.h"
#include "ask/shipped_files.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/files/launch_files.h"

namespace occupipe::analysis {
namespace {

const std::string* first_kernel(const std::vector<PlanStep>& steps) {
    for (const PlanStep& step : steps) {
        if (const auto* launch = std::get_if<KernelLaunch>(&step)) return &launch->kernel;
        if (const auto* repeat = std::get_if<RepeatSteps>(&step))
            if (const std::string* found = first_kernel(repeat->steps)) return found;
    }
    return nullptr;
}

void add_kernels(const std::vector<PlanStep>& steps, std::vector<std::string>& kernels) {
    for (const PlanStep& step : steps) {
        if (const auto* launch = std::get_if<KernelLaunch>(&step))
            kernels.push_back(launch->kernel);
        if (const auto* repeat = std::get_if<RepeatSteps>(&step))
            add_kernels(repeat->steps, kernels);
    }
}

// How many launches of the kernel were changed.
int change_launches(std::vector<PlanStep>& steps, const std::string& kernel,
                    const CodeSource& source) {
    int changed = 0;
    for (PlanStep& step : steps) {
        if (auto* repeat = std::get_if<RepeatSteps>(&step))
            changed += change_launches(repeat->steps, kernel, source);
        auto* launch = std::get_if<KernelLaunch>(&step);
        if (launch == nullptr || launch->kernel != kernel) continue;
        if (!source.grid.empty()) launch->grid = extents("--grid", source.grid, most_grid);
        if (!source.block.empty()) launch->block = extents("--block", source.block, most_block);
        require_group(launch->block, source.block);
        if (source.changed_shared_bytes) launch->shared_bytes = *source.changed_shared_bytes;
        ++changed;
    }
    return changed;
}

LaunchPlan changed_plan(const CodeSource& source) {
    LaunchPlan plan = read_launches(source.launch);
    std::string kernel = source.kernel;
    if (const std::string* const first = first_kernel(plan.steps); first && kernel.empty())
        kernel = *first;
    if (change_launches(plan.steps, kernel, source) == 0)
        throw InputError(
            fmt::format("{}: launches no '{}', which is to be changed", source.launch, kernel));
    return plan;
}

}  // namespace

LaunchPlan plan_of(const CodeSource& source) {
    const bool on_command_line = !source.grid.empty() || !source.block.empty() ||
                                 !source.arguments.empty() || source.shared_bytes != 0;
    if (!source.launch.empty()) {
        if (source.changes_launches) return changed_plan(source);
        if (on_command_line)
            throw InputError(
                "--grid, --block, --shared-bytes and --args describe a launch "
                "themselves; leave --launch out, or them");
        return read_launches(source.launch);
    }
    if (!source.kernels.empty() && !std::filesystem::exists(source.kernels))
        throw InputError(source.kernels + ": cannot read: No such file or directory");
    if (source.grid.empty() || source.block.empty())
        throw InputError(
            fmt::format("how is it launched? --launch FILE, or --grid and --block (and --args); "
                        "'occupipe execute {} --template' prints a launch file to begin with",
                        source.kernels.empty() ? "KERNELS" : source.kernels));
    return described_launch({.kernel = source.kernel,
                             .grid = source.grid,
                             .block = source.block,
                             .arguments = source.arguments,
                             .shared_bytes = source.shared_bytes});
}

std::string kernels_of(const CodeSource& source, const LaunchPlan& plan) {
    const std::string& kernels = source.kernels.empty() ? plan.source : source.kernels;
    if (kernels.empty())
        throw InputError(
            "which kernels? name a .cu, .cl, .ptx or .cubin file, or a launch file with "
            "'source'");
    return kernels;
}

bool describes_launch(const CodeSource& source) {
    CodeSource bare;
    bare.kernels = source.kernels;
    return source != bare;
}

bool describes_launch(const KernelSource& source) {
    Extraction bare;
    bare.memory_cores = source.extraction.memory_cores;
    return describes_launch(source.code) || source.extraction != bare;
}

bool is_code(const KernelSource& source) {
    const std::string& file = source.code.kernels;
    if (file.empty() ? !source.code.launch.empty() : names_kernels(file)) return true;
    if (describes_launch(source))
        throw InputError(fmt::format(
            "{}: --launch, --arch, --compiler, --kernel, --grid, --block, --shared-bytes, "
            "--args and --sample go with CUDA (.cu), OpenCL C (.cl), "
            "PTX (.ptx) and machine code "
            "(.cubin)",
            file.empty() ? "which kernel?" : file));
    return false;
}

std::string architecture_for(const std::string& asked, const LaunchPlan& plan,
                             const std::string& file, const GpuProfile* profile) {
    if (!asked.empty()) return asked;
    if (!plan.architecture.empty()) return plan.architecture;
    if (profile != nullptr && is_source(file)) return architecture_of(*profile);
    return {};
}

CompileRequest compile_request(const LaunchPlan& plan, const GpuProfile* profile) {
    CompileRequest request{.usual_options = plan.compiler_options};
    if (profile != nullptr) request.preferred_architecture = architecture_of(*profile);
    add_kernels(plan.steps, request.kernels);
    return request;
}

KernelFile read_kernels(const CodeSource& source, const LaunchPlan& plan, const GpuProfile* profile,
                        const CompileEffort& effort, CodeCache* cache) {
    const std::string file = kernels_of(source, plan);
    CompileRequest request = compile_request(plan, profile);
    request.architecture = architecture_for(source.architecture, plan, file, profile);
    if (profile != nullptr && profile->device.vendor == "AMD" && request.architecture.empty())
        throw InputError(fmt::format(
            "{}: is compiled for GPUs of NVIDIA, '{}' is AMD's: only kernels as graphs are "
            "predicted for it",
            file, profile->device.name));
    request.options = source.compiler_options;
    request.clang = source.clang;
    request.kernels.push_back(source.kernel);
    request.effort = effort;
    request.cache = cache;
    return read_kernel_file(file, request);
}

std::string source_path(const KernelSource& source) {
    if (is_code(source)) return kernels_of(source.code, plan_of(source.code));
    if (source.code.kernels.empty())
        throw InputError("which kernel? KERNEL is a file or a shipped name");
    return shipped_kernel(source.code.kernels);
}

LoadedKernel loaded_kernel(std::string file, Kernel kernel) {
    return {.file = std::move(file), .kernel = std::make_shared<const Kernel>(std::move(kernel))};
}

LoadedKernel loaded_kernel(std::string file, KernelIn in) {
    const auto code = std::make_shared<const KernelIn>(std::move(in));
    return loaded_kernel(std::move(file), code);
}

LoadedKernel loaded_kernel(std::string file, const std::shared_ptr<const KernelIn>& in) {
    return {.file = std::move(file),
            .kernel = std::shared_ptr<const Kernel>(in, &in->kernel()),
            .in = in,
            .notes = in->assumptions};
}

KernelIn read_code(const CodeSource& source, const Extraction& extraction, const LaunchPlan& plan,
                   const GpuProfile* profile, const Reading& reading) {
    const KernelFile file = read_kernels(source, plan, profile);
    if (!file.note.empty() && reading.compiled) reading.compiled(file.note);
    return execute_code(file, source.kernel, extraction, plan, profile, reading);
}

KernelIn execute_code(const KernelFile& file, const std::string& kernel,
                      const Extraction& extraction, const LaunchPlan& plan,
                      const GpuProfile* profile, const Reading& reading) {
    KernelsInOptions options;
    options.kernel = kernel;
    options.step = extraction.step;
    set_sample(extraction.sample, options);
    options.classes = extraction.classes;
    options.memory_cores = extraction.memory_cores;
    if (profile != nullptr) options.known = known_names(*profile);
    options.buffers = reading.buffers;
    if (reading.effort == Effort::hurried) {
        options.memory_instructions = 4'000'000;
        options.most_memory_instructions = 0;
        options.memory_references = 1 << 21;
    } else if (reading.effort == Effort::coarse) {
        options.least_memory_groups = 2;
        options.memory_instructions = 300'000;
        options.most_memory_instructions = 0;
        options.memory_references = 1 << 18;
        options.sample = 2;
        options.sample_instructions = 0;  // which does not grow
    }
    options.execute = reading.execute;
    KernelIn in = kernel_in(plan, file, options);
    if (reading.warn) std::ranges::for_each(in.warnings, reading.warn);
    return in;
}

LoadedKernel read_source(const KernelSource& source, const GpuProfile& profile, bool memory,
                         const Reading& reading) {
    if (!is_code(source)) {
        const std::string path = source_path(source);
        if (reading.found) reading.found(path);
        return loaded_kernel(source.code.kernels, read_kernel(path));
    }
    const LaunchPlan plan = plan_of(source.code);
    const std::string file = kernels_of(source.code, plan);
    if (reading.found) reading.found(file);
    Extraction extraction = source.extraction;
    if (memory) extraction.memory_cores = profile.cores;
    return loaded_kernel(file, read_code(source.code, extraction, plan, &profile, reading));
}

}  // namespace occupipe::analysis
