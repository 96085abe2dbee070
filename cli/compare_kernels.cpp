// SPDX-License-Identifier: MIT
#include "cli/compare_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "analysis/explanation/kernel_comparison.h"
#include "ask/answer.h"
#include "ask/kernels_in.h"
#include "ask/shipped_files.h"
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

// A kernel file says its launch itself: what is said of one is the other version's.
void forget_launch(KernelsInRequest& request) {
    if (analysis::names_kernels(request.execution.kernels)) return;
    const KernelsInRequest told = std::exchange(request, {});
    request.execution.kernels = told.execution.kernels;
    request.execution.threads = told.execution.threads;
    request.execution.limit = told.execution.limit;
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

// The launch is the kernel's own, made to fit the profile; what is said of this version alone goes
// to `assumptions`.
analysis::ComparedKernel side(const analysis::Ready& ready, const std::string& source_folder,
                              std::vector<std::string>& assumptions) {
    std::vector<std::string> fitted;
    const Launch launch = analysis::chosen_launch({}, ready.kernel(), ready.profile, fitted);
    const analysis::Told told = analysis::told(ready, launch, {});
    analysis::require_numbers(told);
    analysis::Notes notes = ready.notes;
    analysis::add_notes(notes, analysis::Note::Kind::fitted, fitted);
    analysis::add_notes(notes, told.notes);
    analysis::add_notes(notes, told.priced->notes);
    const std::string& file = ready.source.file;
    for (const analysis::Note& note : notes)
        assumptions.push_back(fmt::format("{}: {}", file, analysis::text(note)));
    Kernel kernel = told.priced->told;
    kernel.launch = launch;
    return {.file = file,
            .kernel = std::move(kernel),
            .launch = launch,
            .sources = source_texts(ready.kernel(), file, source_folder)};
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
    return tells_versions() || caches.given() || !memory.empty();
}

void add_compare_kernels_options(const Command& command, CompareKernelsOptions& options,
                                 analysis::ProfileChanges& changes) {
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
                    "Draws of the profile's standard errors for the interval of the change; 0: no\n"
                    "interval (default: 400; no interval where these take longer than --limit)")
        .check(in_range(0, 1'000'000))
        .type_name("N")
        .group(group);
    command.add_option("--seed", options.seed, "Seed of the draws (default: 1)")
        .type_name("N")
        .group(group);
    add_assume_latency_option(command, changes, group);
    command
        .add_option("--memory", options.memory,
                    "How memory accesses are priced, as 'predict --memory' does (default:\n"
                    "per-access)")
        .check(one_of({"per-access", "none"}))
        .type_name("HOW")
        .group(group);
    add_cache_options(command, options.caches, group);
    add("--page", options.page, "The comparison as a page", "FILE.html");
    command
        .add_option("--source-folder", options.source_folder,
                    "Where the source is (default: the folder of each version)")
        .type_name("DIR")
        .group(group);
}

analysis::MemoryQuestion memory_of(const CompareKernelsOptions& options) {
    return {.pricing = options.memory == "none" ? analysis::MemoryPricing::none
                                                : analysis::MemoryPricing::per_access,
            .caches = options.caches.sizes()};
}

void compare_kernels(const CompareKernelsRequest& request, const CompareKernelsOptions& options) {
    if (request.profile.empty()) throw InputError("two kernels are compared on a GPU: --profile P");
    const GpuProfile profile = analysis::named_profile(request.profile);
    keep_apart({{"BEFORE", request.before.execution.kernels}, {"AFTER", options.after}},
               {{"--page", options.page}});
    if (!options.page.empty() && !request.force && std::filesystem::exists(options.page))
        throw InputError(options.page, {}, "", "exists; --force replaces it");
    if (!analysis::names_kernels(request.before.execution.kernels) &&
        !analysis::names_kernels(options.after)) {
        // Refuses what it would ignore.
        static_cast<void>(analysis::is_code(request.before.source()));
        if (options.tells_launch())
            throw InputError(
                "--after-launch, --after-grid and their like go with kernels of machine code");
    }
    const analysis::MemoryQuestion memory = memory_of(options);
    std::vector<analysis::LoadedKernel> sources;
    for (KernelsInRequest one : {request.before, after_request(request.before, options)}) {
        one.execution.limit = request.limit;
        forget_launch(one);
        sources.push_back(analysis::read_source(one.source(), profile,
                                                memory.pricing != analysis::MemoryPricing::none,
                                                reading_of(one.execution)));
    }
    const analysis::ReadyTogether ready =
        analysis::ready_together(sources, profile, request.changes, memory);
    report::KernelComparisonReport report;
    report.profile = request.profile;
    report.device = profile.device.name;
    report.assumptions = analysis::texts(ready.notes);
    std::vector<analysis::ComparedKernel> sides;
    for (const analysis::Ready& one : ready.kernels)
        sides.push_back(side(one, options.source_folder, report.assumptions));

    ModelOptions model_options;
    RunLimit limit(request.limit);
    limit.apply(model_options);
    // Of a drawn profile everything is made anew: prices and numbers that come from the same value
    // vary together.
    const analysis::Prepare prepare = [&](const Kernel& kernel, const GpuProfile& drawn) {
        if (limit.over()) limit.require_time();
        limit.add_done();
        analysis::PricedMemory made = analysis::remade(ready, kernel, drawn);
        return analysis::PreparedKernel{std::move(made.kernel), std::move(made.profile)};
    };
    const auto compared = [&](int draws) {
        return analysis::compare_kernels(profile, sides[0], sides[1], model_options.simulation(),
                                         draws, options.seed.value_or(1), prepare);
    };
    report.comparison = compared(0);
    if (const int draws = options.draws.value_or(default_draws); draws > 0) try {
            // Each draw predicts both, once more for the lines; the profile itself did and does.
            limit.expect(2 * static_cast<std::size_t>(draws + std::min(draws, 100)) + 8);
            report.comparison = compared(draws);
        } catch (const LimitReached&) {
            if (options.draws) throw;
            report.comparison.no_uncertainty = fmt::format(
                "{} draws of the profile take longer than --limit {}; --uncertainty 20 takes fewer",
                draws, request.limit);
        }
    limit.end_line();
    const double cycles[] = {report.comparison.cycles.before, report.comparison.cycles.after};
    for (std::size_t i = 0; i < 2; ++i)
        for (const analysis::Note& note :
             analysis::too_short(ready.kernels[i], sides[i].launch, cycles[i]))
            report.assumptions.push_back(
                fmt::format("{}: {}", sides[i].file, analysis::text(note)));
    if (!options.page.empty())
        write_text_file(options.page, report::comparison_page(report),
                        request.force ? Overwrite::yes : Overwrite::no);
    if (request.json)
        fmt::print("{}\n", report::to_json(report).dump(2));
    else
        fmt::print("{}", report::to_text(report));
}

}  // namespace occupipe::cli
