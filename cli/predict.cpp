// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "analysis/explanation/line_intervals.h"
#include "ask/assumed_latency.h"
#include "ask/memory/memory_pricing.h"
#include "ask/prepared_launch.h"
#include "ask/profile_for_kernel.h"
#include "ask/shipped_files.h"
#include "ask/weak_values.h"
#include "ask/what_if.h"
#include "cli/annotate.h"
#include "cli/commands.h"
#include "cli/explain.h"
#include "cli/kernel_page.h"
#include "cli/kernels_in_request.h"
#include "cli/options.h"
#include "cli/run_limit.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/parallel.h"
#include "report/figures/plot_file.h"
#include "report/figures/prediction_figures.h"
#include "report/text/annotated_source.h"
#include "report/text/memory_table.h"
#include "report/text/prediction_output.h"
#include "sim/models/kernel_analysis.h"
#include "sim/models/registry.h"
#include "sim/models/shared_work.h"

namespace occupipe::cli {
namespace {

constexpr const char* about =
    "Input: a kernel and a GPU profile, as files or as shipped names. The kernel is an "
    "instruction\n"
    "dependence graph (docs/file-formats.md; examples in sim/kernels/), or CUDA source, PTX or\n"
    "machine code with the way it is launched: it is then compiled, executed on this machine, and\n"
    "what a sample of its groups executed is predicted (docs/kernels-in.md).\n"
    "Output: a table on stdout, or JSON or CSV.\n"
    "Without --groups and without a launch in the kernel file, each core runs as many groups as\n"
    "it holds at once. 'limited by' names what limits the run: a subsystem, 'issue' or 'latency'.";

constexpr const char* examples =
    "occupipe predict saxpy --profile rtx-2070\n"
    "occupipe predict mix --profile rtx-2070 --model all --occupancy all --csv\n"
    "occupipe predict mix --profile gtx-1060 --set fma.f32.latency=8 --set issue.limit=2\n"
    "occupipe predict saxpy --profile rtx-2070 --stalls --timeline --sensitivity\n"
    "occupipe predict saxpy.cu --kernel saxpy --grid 64 --block 256 \\\n"
    "    --args 'x=f32[16384] y=f32[16384] 2.5 16384' --profile rtx-2070\n"
    "occupipe predict matmul.cu --launch matmul.yaml --profile rtx-2070 --model all";

struct Options {
    KernelsInRequest kernel;  // or a graph, as a file or a shipped name
    std::string profile;
    std::vector<std::string> models = {"pipeline"};
    LaunchOptions launch;
    std::string policy;  // empty: as the profile says
    std::string select;  // empty: as the profile says
    std::string order;   // empty: as the kernel says
    bool stall_counts = false;
    MemoryBehaviour memory;
    std::string memory_pricing = "per-access";
    std::string memory_order = "round_robin";
    std::optional<double> l1_bytes, l2_bytes;
    std::string limit = "60s";
    bool estimate = false;
    std::vector<std::string> uses;
    std::vector<std::string> assumed_classes;
    std::vector<std::string> what_ifs;
    bool json = false;
    bool csv = false;
    std::string plot;
    ExplainOptions explain;
    AnnotateOptions annotate;
    bool report = false;  // the page alone, with more on it
};

void warn(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) fmt::print(stderr, "occupipe: warning: {}\n", line);
}

// What was said of memory and no chosen model uses is refused.
void require_use(const MemoryBehaviour& memory, const std::vector<const Model*>& chosen) {
    const auto unused = [&](const Model* model) { return unused_memory(*model, memory).size(); };
    validate(memory);
    const MemoryBehaviour none;
    const std::size_t given = (memory.hit_rate != none.hit_rate) +
                              (memory.hit_latency != none.hit_latency) +
                              (memory.requests_per_access != none.requests_per_access);
    if (given == 0 ||
        std::ranges::any_of(chosen, [&](const Model* m) { return unused(m) < given; }))
        return;
    throw InputError(
        "--hit-rate and --hit-latency are for x-model and gpuperf, --requests-per-access for "
        "gpuperf, mdm and mdm-divergent; none of these is among the chosen models");
}

struct Input {
    std::string file;  // as in messages
    Kernel kernel;
    std::vector<std::string> assumptions;
    std::optional<analysis::KernelIn> in = {};  // of machine code
};

// The outputs must not replace what is read.
void keep_outputs_apart(const Options& options, const std::string& kernel) {
    keep_apart({{"KERNEL", kernel},
                {"--launch", options.kernel.execution.launch},
                {"--profile", analysis::shipped_profile(options.profile)}},
               {{"--plot", options.plot},
                {"--svg", options.explain.svg},
                {"--trace", options.explain.trace},
                {"--page", options.annotate.page}});
    report::check_plot_file(options.plot, options.explain.force);
}

Input read_input(const Options& options, const GpuProfile& profile) {
    if (!asks_for_machine_code(options.kernel)) {
        const std::string& file = options.kernel.execution.kernels;
        if (file.empty()) throw InputError("which kernel? KERNEL is a file or a shipped name");
        const auto path = analysis::shipped_kernel(file);
        keep_outputs_apart(options, path);
        return {file, read_kernel(path), {}};
    }
    if (options.launch.group_warps) throw InputError(analysis::no_group_warps_of_code);
    const LaunchPlan plan = plan_of(options.kernel.execution);
    Input input;
    input.file = kernels_of(options.kernel.execution, plan);
    keep_outputs_apart(options, input.file);
    KernelsInRequest request = options.kernel;
    request.execution.limit = options.limit;
    if (options.memory_pricing != "none") request.memory_cores = profile.cores;
    analysis::KernelIn in = read_kernel_in(request, plan, &profile);
    input.kernel = in.kernel();
    input.assumptions = in.assumptions;
    input.in = std::move(in);
    return input;
}

analysis::MemoryPricing pricing_word(const Options& options) {
    for (const auto one : words(std::type_identity<analysis::MemoryPricing>{}))
        if (to_string(one) == options.memory_pricing) return one;
    return analysis::MemoryPricing::none;
}

analysis::CacheSizes asked_caches(const Options& options) {
    return {.first = options.l1_bytes,
            .second = options.l2_bytes,
            .first_from = "--l1-bytes",
            .second_from = "--l2-bytes"};
}

analysis::PricedMemory price_memory(const Options& options, const Kernel& kernel,
                                    const GpuProfile& profile) {
    return analysis::price_memory(kernel, profile, pricing_word(options), asked_caches(options));
}

using Prepared = analysis::PreparedLaunch;

// `kernel`: with the reuse of its own launch.
Prepared prepare(const Options& options, const std::optional<analysis::KernelIn>& in,
                 const Kernel& kernel, const GpuProfile& profile, const Launch& launch) {
    analysis::PrepareOptions how{.pricing = pricing_word(options),
                                 .caches = asked_caches(options),
                                 .occupancy_asked = options.launch.occupancy.has_value()};
    if (options.memory_order == "predicted")
        how.again = SimulationOptions{.policy = parse_policy(options.policy),
                                      .select = parse_select(options.select),
                                      .order = parse_order(options.order)};
    const analysis::KernelIn* const code = in ? &*in : nullptr;
    return analysis::prepared_launch(code, analysis::told_for(code, kernel, profile, launch, how),
                                     profile, launch, how);
}

KernelOrigin origin_of(const Options& options, const std::optional<analysis::KernelIn>& in) {
    KernelOrigin origin{.file = kernel_path(options.kernel)};
    if (in) {
        origin.code = in->code.get();
        origin.architecture = in->architecture;
    }
    return origin;
}

// What a model refuses, with the file: the model knows lines of it at most.
template <typename Run>
auto with_file(const std::string& file, const Run& run) {
    try {
        return run();
    } catch (const InputError& error) {
        const std::string what = error.what();
        throw InputError(what.find(file) == std::string::npos ? file + ": " + what : what);
    }
}

// The simulation at every occupancy, and what would help.
report::KernelPageMore more_of_page(const Options& options, const Kernel& kernel,
                                    const std::optional<analysis::KernelIn>& in,
                                    const GpuProfile& profile, const Prepared& own,
                                    const ModelOptions& model_options) {
    report::KernelPageMore more;
    if (in) more.occupancy = in->occupancy;
    // The same groups, so many at once: up to as many as there are, which is what fits.
    std::vector<Prepared> shapes;
    for (int at_once = 1; at_once <= own.launch.concurrent_groups; ++at_once) {
        Launch shape = own.launch;
        shape.concurrent_groups = at_once;
        shapes.push_back(prepare(options, in, kernel, profile, shape));
    }
    more.occupancies.resize(shapes.size());
    const Model& pipeline = find_model("pipeline");
    parallel_for(shapes.size(), [&](std::size_t i) {
        more.occupancies[i] = pipeline.predict(shapes[i].memory.profile, shapes[i].memory.kernel,
                                               shapes[i].launch, model_options);
    });
    more.what_ifs = analysis::sensitivities(own.memory.profile, own.memory.kernel, own.launch,
                                            model_options.simulation());
    if (!more.what_ifs.empty())
        more.cycles = more.what_ifs.front().cycles + more.what_ifs.front().gain;
    return more;
}

analysis::Prepare pricing_of(const Options& options) {
    return [&options](const Kernel& told, const GpuProfile& drawn) {
        analysis::PricedMemory priced = price_memory(options, told, drawn);
        return analysis::PreparedKernel{std::move(priced.kernel), std::move(priced.profile)};
    };
}

bool priced(const Options& options, const Prepared& one) {
    return options.memory_pricing != "none" && !one.memory.rows.empty();
}

// Intervals of lines and instructions, where the draws of --uncertainty can be afforded.
void tell_intervals(analysis::Annotation& annotation, const Prepared& one,
                    const GpuProfile& profile, const Options& options,
                    const SimulationOptions& simulation) {
    const int draws = analysis::draws_by_line(annotation, *options.explain.uncertainty);
    if (draws == 0) {
        annotation.notes.emplace_back(
            "lines have no intervals: fewer than 20 draws, or one simulation executes too many "
            "instructions for 20");
        return;
    }
    if (priced(options, one))
        analysis::add_intervals(annotation, profile, one.told, one.launch, simulation, draws,
                                options.explain.seed, pricing_of(options));
    else
        analysis::add_intervals(annotation, one.memory.profile, one.memory.kernel, one.launch,
                                simulation, draws, options.explain.seed);
}

void predict(const Options& options) {
    GpuProfile profile = read_profile(analysis::shipped_profile(options.profile));
    Input input = read_input(options, profile);
    const std::string& file = input.file;
    const Kernel& kernel = input.kernel;
    const std::vector<std::string>& of_input = input.assumptions;
    const std::optional<analysis::KernelIn>& in = input.in;
    const bool again = options.memory_order == "predicted";
    if (again && !(in && in->memory))
        throw InputError(
            "--memory-order predicted: for CUDA source, PTX and machine code, and not with "
            "--memory none");
    std::vector<std::string> assumptions = of_input;
    analysis::ProfileForKernel adapted = analysis::profile_for_kernel(
        kernel, std::move(profile),
        {.uses = options.uses, .what_ifs = options.what_ifs, .classes = options.assumed_classes});
    profile = std::move(adapted.profile);
    const GpuProfile& offered = adapted.offered;
    std::ranges::move(adapted.asked, std::back_inserter(assumptions));
    std::vector<std::string> unasked = std::move(adapted.unasked);
    const auto chosen = find_models(options.models);
    require_use(options.memory, chosen);
    if (in)
        if (auto said = analysis::other_architecture(*in, profile); !said.empty())
            unasked.push_back(std::move(said));
    std::vector<Prepared> prepared;
    for (const Launch& shape : launches(options.launch, kernel, profile, unasked)) {
        prepared.push_back(prepare(options, in, kernel, profile, shape));
        const analysis::PricedMemory& memory = prepared.back().memory;
        analysis::require_timings(memory.profile, memory.kernel, file, offered);
    }
    if ((options.l1_bytes || options.l2_bytes) && prepared.front().memory.rows.empty())
        throw InputError(
            "--l1-bytes and --l2-bytes: the kernel does not tell what its instructions ask of the "
            "memory; 'occupipe extract' writes kernels that do");
    if (!options.plot.empty()) report::require_curve(prepared.size());
    std::vector<std::string> warnings;
    const auto warn_once = [&](const std::vector<std::string>& lines) {
        for (const std::string& line : lines) {
            if (std::ranges::find(warnings, line) != warnings.end()) continue;
            warnings.push_back(line);
            warn({line});
        }
    };
    if (options.csv) warn_once(unasked);  // CSV has no place for them
    std::ranges::move(unasked, std::back_inserter(assumptions));
    for (Prepared& one : prepared) {
        if (options.csv) warn_once(one.said);
        std::vector<std::string> weak =
            analysis::weak_values(one.memory.kernel, one.memory.profile);
        warn_once(weak);
        std::ranges::move(weak, std::back_inserter(one.said));
    }

    ModelOptions model_options{.policy = parse_policy(options.policy),
                               .select = parse_select(options.select),
                               .order = parse_order(options.order),
                               .stall_counts = options.stall_counts,
                               .memory = options.memory,
                               .estimate = options.estimate};
    RunLimit limit(options.limit);
    limit.apply(model_options);
    report::PredictionSet set{kernel.name, options.profile, profile.device.name, {}};
    set.predictions.resize(chosen.size() * prepared.size());
    limit.expect(set.predictions.size());
    std::vector<SharedWork> shared(prepared.size());
    std::vector<Problem> problems;
    for (const Prepared& one : prepared)
        problems.push_back(with_file(
            file, [&] { return Problem(one.memory.profile, one.memory.kernel, one.launch); }));
    sim::RunViews views(prepared.size() == 1 ? wanted_views(options.explain, options.annotate.any())
                                             : sim::RunViews::Wanted{});
    const auto observed = std::ranges::find_if(chosen, &Model::observable) - chosen.begin();
    parallel_for(set.predictions.size(), [&](std::size_t i) {
        const Model& model = *chosen[i / prepared.size()];
        const Prepared& one = prepared[i % prepared.size()];
        ModelOptions own_options = model_options;
        own_options.shared = &shared[i % prepared.size()];
        if (std::cmp_equal(i / prepared.size(), observed))
            own_options.observers = views.observers();
        if (options.memory_pricing != "none")
            own_options.memory.dram_bytes_per_warp = analysis::dram_bytes_per_warp(one.memory);
        set.predictions[i] = with_file(
            file, [&] { return model.predict(problems[i % prepared.size()], own_options); });
        std::ranges::copy(assumptions, std::back_inserter(set.predictions[i].assumptions));
        std::ranges::copy(one.said, std::back_inserter(set.predictions[i].assumptions));
        std::ranges::move(unused_memory(model, options.memory),
                          std::back_inserter(set.predictions[i].assumptions));
        limit.add_done();
    });
    if (in)
        for (Prediction& one : set.predictions)
            if (auto said = analysis::shorter_than_absent(*in, profile, one.launch, one.cycles);
                !said.empty()) {
                warn_once({said});
                one.assumptions.push_back(std::move(said));
            }
    const Prepared& first = prepared.front();
    Explanation why;
    views.run(problems.front(), model_options.simulation());
    if (options.explain.any()) {
        if (prepared.size() > 1)
            throw InputError(
                "--stalls, --timeline, --svg, --trace, --sensitivity and "
                "--uncertainty explain one launch; choose one --occupancy");
        const Unprepared before{
            .kernel = first.told, .profile = profile, .prepare = pricing_of(options)};
        why = explain(views, first.memory.profile, first.memory.kernel, first.launch,
                      model_options.simulation(), options.explain,
                      priced(options, first) ? &before : nullptr);
    }
    if (options.annotate.any()) {
        if (prepared.size() > 1)
            throw InputError("--annotate and --page are of one launch; choose one --occupancy");
        analysis::Annotation annotation =
            annotation_of(*views.stalls(), first.memory.kernel, first.launch,
                          origin_of(options, in), options.annotate);
        if (options.memory_pricing == "per-access")
            analysis::add_hits(annotation, first.memory.rows);
        if (options.explain.uncertainty)
            tell_intervals(annotation, first, profile, options, model_options.simulation());
        why.text += annotation_text(annotation, options.annotate);
        why.json["annotation"] = report::to_json(annotation);
        report::KernelPageMore more;
        if (options.report) more = more_of_page(options, kernel, in, profile, first, model_options);
        write_page(set, annotation, options.annotate, options.explain.force, more);
    }
    if (options.report) return;
    // Executions are the launch's, times the last core's: shares only where groups are alike.
    const bool alike = !kernel.groups || kernel.groups->kinds.size() == 1;
    const Prediction* const shares_of = alike ? &set.predictions.front() : nullptr;
    if (options.json) {
        nlohmann::ordered_json json = report::to_json(set);
        json.update(why.json);
        if (!first.memory.rows.empty())
            json["memory"] = report::memory_json(first.memory, shares_of);
        fmt::print("{}\n", json.dump(2));
    } else if (options.csv) {
        fmt::print("{}", report::to_csv(set));
        std::fflush(stdout);
        fmt::print(stderr, "{}", why.text);  // no part of the table
    } else {
        fmt::print("{}{}", report::to_text(set), why.text);
        if (prepared.size() == 1 && !first.memory.rows.empty())
            fmt::print("\n{}", report::memory_table(first.memory, shares_of));
    }
    if (!options.plot.empty())
        report::write_plot(options.plot, report::prediction_plot(set), options.explain.force);
}

void add_memory_options(const Command& command, MemoryBehaviour& memory) {
    command
        .add_option("--memory-behaviour hit_rate|--hit-rate", memory.hit_rate,
                    "Share of accesses that hit a cache, below 1 (x-model, gpuperf)")
        .check(finite_number())
        .type_name("SHARE");
    command
        .add_option("--memory-behaviour hit_latency|--hit-latency", memory.hit_latency,
                    "Λ of a hit [cycles]")
        .check(finite_number())
        .type_name("CYCLES");
    command
        .add_option("--memory-behaviour requests_per_access|--requests-per-access",
                    memory.requests_per_access,
                    "Requests that one access of a warp makes (gpuperf, mdm, mdm-divergent)")
        .check(finite_number())
        .show_default()
        .type_name("N");
}

}  // namespace

void write_kernel_page(const KernelPageRequest& request) {
    Options options;
    options.kernel = request.kernel;
    options.profile = request.profile;
    options.models = {"all"};
    options.uses = request.uses;
    options.assumed_classes = request.assumed_classes;
    options.what_ifs = request.what_ifs;
    options.limit = request.limit;
    options.explain.force = request.force;
    options.annotate.page = request.output;
    options.annotate.source_folder = request.source_folder;
    options.report = true;
    predict(options);
}

void add_predict(const Command& app) {
    const auto options = std::make_shared<Options>();
    const Command command =
        app.subcommand("predict", "Predict a kernel's time on a GPU, and what limits it");
    add_help_end(command, {.text = about,
                           .exit_codes = {exit_limit_reached, exit_interrupted},
                           .examples = examples});
    command
        .add_option(
            "kernel", options->kernel.execution.kernels,
            "Kernel: a graph (a YAML file or a shipped name), or CUDA (.cu), OpenCL C (.cl),\n"
            "PTX (.ptx) or machine code (.cubin); default: the launch file's 'source'")
        .type_name("KERNEL");
    command
        .add_option("--profile", options->profile, "GPU profile: a file (YAML) or a shipped name")
        .required()
        .type_name("PROFILE");
    command
        .add_option("--model", options->models,
                    "Models, separated by commas, or all; see 'occupipe list models'")
        .delimiter(',')
        .show_default()
        .type_name("MODEL");
    command.add_option("--group-warps", options->launch.group_warps, "Warps per group")
        .check(positive_number())
        .type_name("N");
    command
        .add_option("--concurrent-groups", options->launch.concurrent_groups,
                    "Groups that a core holds at once")
        .check(positive_number())
        .type_name("N");
    command.add_option("--groups", options->launch.groups, "Groups of the whole launch")
        .check(positive_number())
        .type_name("N");
    command
        .add_option("--occupancy", options->launch.occupancy,
                    "A row per occupancy: all that the profile's limits admit, or warps per core\n"
                    "such as 1-10 or 4,8,16")
        .type_name("all|LIST");
    command
        .add_option("--policy", options->policy,
                    "Which warp issues first (default: the profile's, else lrr)")
        .check(one_of({"lrr", "gto", "oldest"}))
        .type_name("POLICY");
    command
        .add_option("--select", options->select,
                    "What a scheduler chooses first: a subsystem, then a warp for it, or a warp\n"
                    "(default: the profile's, else subsystem)")
        .check(one_of({"subsystem", "warp"}))
        .type_name("SELECT");
    command
        .add_option("--order", options->order,
                    "Which instructions of a warp may issue: any ready one (dataflow) or only the\n"
                    "next (in_order); default: the kernel's, else dataflow")
        .check(one_of({"dataflow", "in_order"}))
        .type_name("ORDER");
    command.add_flag(
        "--stall-counts", options->stall_counts,
        "After an instruction with a stall count (machine code), its warp issues nothing\n"
        "for so many cycles; in order only, and slower to simulate");
    add_memory_options(command, options->memory);
    command
        .add_option(
            "--memory", options->memory_pricing,
            "λ and Λ of memory instructions, where the kernel tells what they ask: by the\n"
            "levels that answer each (per-access), by one ratio R and one conflict degree D\n"
            "of the kernel (aggregate), or as the profile says (none)")
        .check(one_of({"per-access", "aggregate", "none"}))
        .show_default()
        .type_name("HOW");
    command
        .add_option("--memory-behaviour order|--memory-order", options->memory_order,
                    "Order of the warps that share the caches: an instruction each in turn, or as\n"
                    "a first prediction has them issue (machine code)")
        .check(one_of({"round_robin", "predicted"}))
        .show_default()
        .type_name("ORDER");
    command
        .add_option(
            "--cache l1|--l1-bytes", options->l1_bytes,
            "First-level cache of a core, without shared memory (default: as the profile's\n"
            "memory levels or its compute capability tell)")
        .check(positive_number())
        .type_name("N");
    command
        .add_option("--cache l2|--l2-bytes", options->l2_bytes,
                    "Second-level cache (default: as the profile's memory levels tell)")
        .check(positive_number())
        .type_name("N");
    add_limit_option(command, options->limit);
    command.add_flag("--estimate", options->estimate,
                     "Extrapolate a long simulation from smaller runs; the result is marked as an\n"
                     "estimate and has an observed bound of its error");
    command.add_option("--use", options->uses, analysis::use_help)
        .type_name("OP=INSTRUCTION")
        .one_value_each();
    command.add_option("--assume-latency", options->assumed_classes, analysis::assume_latency_help)
        .type_name("CLASS")
        .one_value_each();
    command.add_option("--set", options->what_ifs, analysis::what_if_help)
        .type_name("NAME=VALUE")
        .one_value_each();
    const Option json = command.add_flag("--json", options->json, "Print JSON");
    command.add_flag("--csv", options->csv, "Print CSV").excludes(json);
    add_plot_option(command, options->plot,
                    "throughput over occupancy, a curve per\nmodel (needs --occupancy)");
    add_explain_options(command, options->explain);
    add_annotate_options(command, options->annotate);
    add_kernels_in_options(command, options->kernel);
    command.show_first({"--profile", "--model", "--occupancy", "--set", "--launch", "--stalls",
                        "--annotate", "--page", "--json", "--csv"});
    command.callback([options] { predict(*options); });
}

}  // namespace occupipe::cli
