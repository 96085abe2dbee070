// SPDX-License-Identifier: MIT
#include "cli/compare_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "analysis/explanation/kernel_comparison.h"
#include "ask/assumed_latency.h"
#include "ask/kernels_in.h"
#include "ask/memory/kernel_memory.h"
#include "ask/memory/memory_pricing.h"
#include "ask/shipped_files.h"
#include "ask/stand_ins.h"
#include "ask/what_if.h"
#include "cli/annotate.h"
#include "cli/options.h"
#include "cli/run_limit.h"
#include "core/error.h"
#include "core/files/files.h"
#include "report/page/compared_kernels.h"
#include "report/text/kernel_comparison.h"

namespace occupipe::cli {
namespace {

constexpr int default_draws = 400;

// A kernel file says its launch itself: what is told of one is the other version's.
void forget_launch(KernelsInRequest& request) {
    if (analysis::names_kernels(request.execution.kernels)) return;
    const KernelsInRequest told = std::exchange(request, {});
    request.execution.kernels = told.execution.kernels;
    request.execution.threads = told.execution.threads;
    request.execution.limit = told.execution.limit;
    request.memory_cores = told.memory_cores;
}

KernelsInRequest after_request(const KernelsInRequest& before,
                               const CompareKernelsOptions& options) {
    KernelsInRequest after = before;
    ExecutionRequest& execution = after.execution;
    execution.kernels = options.after;
    if (!options.after_launch.empty()) {
        execution.launch = options.after_launch;
        execution.grid.clear();
        execution.block.clear();
        execution.arguments.clear();
        execution.shared_bytes = 0;
    }
    if (!execution.launch.empty() && !options.after_arguments.empty())
        throw InputError(
            "--after-args changes a launch that --grid and --block describe; beside a launch file, "
            "whose buffers the arguments name, give --after-launch");
    execution.changes_launches =
        !execution.launch.empty() &&
        (!options.after_grid.empty() || !options.after_block.empty() || options.after_shared_bytes);
    const auto take = [](std::string& into, const std::string& given) {
        if (!given.empty()) into = given;
    };
    take(execution.kernel, options.after_kernel);
    take(execution.grid, options.after_grid);
    take(execution.block, options.after_block);
    take(execution.arguments, options.after_arguments);
    if (execution.changes_launches)
        execution.changed_shared_bytes = options.after_shared_bytes;
    else if (options.after_shared_bytes)
        execution.shared_bytes = *options.after_shared_bytes;
    return after;
}

// Of both versions, for what is said of the profile.
Kernel both(const Kernel& before, const Kernel& after) {
    Kernel kernel = before;
    kernel.launch.reset();
    kernel.groups.reset();
    kernel.warps.insert(kernel.warps.end(), after.warps.begin(), after.warps.end());
    for (WarpProgram& program : kernel.warps) program.share /= 2;
    return kernel;
}

// A profile for both, with what is used in place of others; the kernel with its memory accesses
// priced. What is assumed goes to `said` where that is not null.
class Preparing {
public:
    Preparing(const Kernel& before, const Kernel& after, std::vector<std::string> uses,
              const CompareKernelsOptions& options)
        : both_(both(before, after)),
          uses_(std::move(uses)),
          classes_(options.assumed_classes),
          pricing_(options.memory != "none"),
          caches_{.first = options.l1_bytes,
                  .second = options.l2_bytes,
                  .first_from = "--l1-bytes",
                  .second_from = "--l2-bytes"} {}

    GpuProfile profile(const GpuProfile& given, std::vector<std::string>* said) const {
        GpuProfile made = given;
        const auto tell = [&](std::vector<std::string> sentences) {
            if (said) std::ranges::move(sentences, std::back_inserter(*said));
        };
        tell(analysis::apply_uses(uses_, both_, made));
        tell(analysis::assumed_in_profile(both_, made));
        tell(analysis::apply_stand_ins(both_, made));
        tell(analysis::assume_latencies(classes_, both_, made));
        return made;
    }

    analysis::PreparedKernel kernel(const Kernel& kernel, const GpuProfile& made,
                                    std::vector<std::string>* said) const {
        if (!pricing_) return {kernel, made};
        analysis::PricedMemory priced =
            analysis::price_memory(kernel, made, analysis::MemoryPricing::per_access, caches_);
        if (said) std::ranges::move(priced.said, std::back_inserter(*said));
        return {std::move(priced.kernel), std::move(priced.profile)};
    }

private:
    Kernel both_;
    std::vector<std::string> uses_, classes_;
    bool pricing_;
    analysis::CacheSizes caches_;
};

analysis::ComparedKernel side(const KernelInput& input, const GpuProfile& profile,
                              const std::string& source_folder, std::vector<std::string> said,
                              std::vector<std::string>& assumptions) {
    said.insert(said.begin(), input.assumptions.begin(), input.assumptions.end());
    const std::vector<Launch> shapes = launches({}, input.kernel, profile, said);
    for (std::string& sentence : said) {
        std::string full = fmt::format("{}: {}", input.file, sentence);
        assumptions.push_back(std::move(full));
    }
    return {.file = input.file,
            .kernel = input.kernel,
            .launch = shapes.front(),
            .sources = source_texts(input.kernel, input.file, source_folder)};
}

// Reuse as the launch finds it that is predicted, where the profile's limits make it another one.
void follow_launch(KernelInput& input, const GpuProfile& profile) {
    std::vector<std::string> said;
    const Launch launch = launches({}, input.kernel, profile, said).front();
    if (!input.kernel.memory || launch == input.kernel.launch) return;
    if (input.machine_code) {
        input.kernel = analysis::with_memory(*input.machine_code, std::move(input.kernel), launch,
                                             profile.cores, input.assumptions);
        return;
    }
    if (launch.concurrent_groups != input.kernel.memory->concurrent_groups)
        input.assumptions.push_back(
            fmt::format("reuse was found for {} groups at once on a core, the launch has {}",
                        input.kernel.memory->concurrent_groups, launch.concurrent_groups));
}

}  // namespace

bool CompareKernelsOptions::tells_launch() const {
    return after_shared_bytes || !after_launch.empty() || !after_kernel.empty() ||
           !after_grid.empty() || !after_block.empty() || !after_arguments.empty();
}

bool CompareKernelsOptions::tells_versions() const {
    return tells_launch() || draws || seed || !page.empty() || !source_folder.empty();
}

bool CompareKernelsOptions::tells() const {
    return tells_versions() || l1_bytes || l2_bytes || !memory.empty() || !assumed_classes.empty();
}

void add_compare_kernels_options(const Command& command, CompareKernelsOptions& options) {
    constexpr const char* group = "Two versions of a kernel (compare BEFORE AFTER --profile P)";
    command
        .add_option("after", options.after,
                    "With a kernel in place of RESULTS (.cu, .ptx, .cubin, or a kernel file): its\n"
                    "other version, to see what changed by source line")
        .type_name("AFTER");
    const auto add = [&](const char* name, std::string& value, const char* what, const char* type) {
        command.add_option(name, value, what).type_name(type).group(group);
    };
    add("--after launch|--after-launch", options.after_launch,
        "AFTER's launch file, where it has another", "FILE");
    add("--after kernel|--after-kernel", options.after_kernel,
        "AFTER's kernel, where it has another name", "NAME");
    add("--after grid|--after-grid", options.after_grid,
        "AFTER's groups, where they differ; beside a launch file, in its launches of the kernel",
        "X[,Y[,Z]]");
    add("--after block|--after-block", options.after_block,
        "AFTER's threads of a group, where they differ; likewise", "X[,Y[,Z]]");
    add("--after args|--after-args", options.after_arguments,
        "AFTER's arguments, where they differ", "ARGUMENTS");
    command
        .add_option("--after shared_bytes|--after-shared-bytes", options.after_shared_bytes,
                    "AFTER's dynamic shared memory, where it differs")
        .type_name("BYTES")
        .group(group);
    command
        .add_option("--uncertainty|--draws", options.draws,
                    "Draws of the profile's standard errors for the uncertainty of the change\n"
                    "(default: 400); 0: none")
        .check(in_range(0, 1'000'000))
        .type_name("N")
        .group(group);
    command.add_option("--seed", options.seed, "Seed of the draws (default: 1)")
        .type_name("N")
        .group(group);
    command.add_option("--assume-latency", options.assumed_classes, analysis::assume_latency_help)
        .type_name("CLASS")
        .one_value_each()
        .group(group);
    command
        .add_option("--memory", options.memory,
                    "How memory accesses are priced, as 'predict --memory' does (default:\n"
                    "per-access)")
        .check(one_of({"per-access", "none"}))
        .type_name("HOW")
        .group(group);
    const auto bytes = [&](const char* name, std::optional<double>& value, const char* what) {
        command.add_option(name, value, what).check(positive_number()).type_name("N").group(group);
    };
    bytes("--cache l1|--l1-bytes", options.l1_bytes,
          "First-level cache of a core, as 'predict' takes it");
    bytes("--cache l2|--l2-bytes", options.l2_bytes, "Second-level cache, as 'predict' takes it");
    add("--page", options.page, "The comparison as a page", "FILE.html");
    command
        .add_option("--source-folder", options.source_folder,
                    "Where the source is (default: the folder of each version)")
        .type_name("DIR")
        .group(group);
}

void compare_kernels(const CompareKernelsRequest& request, const CompareKernelsOptions& options) {
    if (request.profile.empty()) throw InputError("two kernels are compared on a GPU: --profile P");
    GpuProfile profile = read_profile(analysis::shipped_profile(request.profile));
    report::KernelComparisonReport report;
    report.assumptions = analysis::apply_what_ifs(request.what_ifs, profile);
    validate(profile);
    keep_apart({{"BEFORE", request.before.execution.kernels}, {"AFTER", options.after}},
               {{"--page", options.page}});
    if (!options.page.empty() && !request.force && std::filesystem::exists(options.page))
        throw InputError(options.page, {}, "", "exists; --force replaces it");
    if (!analysis::names_kernels(request.before.execution.kernels) &&
        !analysis::names_kernels(options.after)) {
        static_cast<void>(asks_for_machine_code(request.before));  // refuses what it would ignore
        if (options.tells_launch())
            throw InputError(
                "--after-launch, --after-grid and their like go with kernels of machine code");
    }
    KernelsInRequest before_request = request.before;
    KernelsInRequest other_request = after_request(request.before, options);
    for (KernelsInRequest* one : {&before_request, &other_request}) {
        one->execution.limit = request.limit;
        if (options.memory != "none") one->memory_cores = profile.cores;
        forget_launch(*one);
    }
    KernelInput before = read_kernel_input(before_request, profile);
    KernelInput after = read_kernel_input(other_request, profile);
    if (options.memory != "none")
        for (KernelInput* input : {&before, &after}) follow_launch(*input, profile);

    report.profile = request.profile;
    report.device = profile.device.name;
    const Preparing preparing(before.kernel, after.kernel, request.uses, options);
    const GpuProfile used = preparing.profile(profile, &report.assumptions);
    std::vector<analysis::ComparedKernel> sides;
    for (const KernelInput* input : {&before, &after}) {
        std::vector<std::string> said;
        const analysis::PreparedKernel ready = preparing.kernel(input->kernel, used, &said);
        analysis::require_timings(ready.profile, ready.kernel, input->file, profile);
        sides.push_back(
            side(*input, profile, options.source_folder, std::move(said), report.assumptions));
    }

    ModelOptions model_options;
    RunLimit limit(request.limit);
    limit.apply(model_options);
    const analysis::Prepare prepare = [&](const Kernel& kernel, const GpuProfile& drawn) {
        return preparing.kernel(kernel, preparing.profile(drawn, nullptr), nullptr);
    };
    report.comparison = analysis::compare_kernels(
        profile, sides[0], sides[1], model_options.simulation(),
        options.draws.value_or(default_draws), options.seed.value_or(1), prepare);
    if (!options.page.empty())
        write_text_file(options.page, report::comparison_page(report),
                        request.force ? Overwrite::yes : Overwrite::no);
    if (request.json)
        fmt::print("{}\n", report::to_json(report).dump(2));
    else
        fmt::print("{}", report::to_text(report));
}

}  // namespace occupipe::cli
