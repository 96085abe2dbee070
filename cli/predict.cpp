// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "analysis/explanation/line_intervals.h"
#include "ask/answer.h"
#include "ask/kernels_in.h"
#include "ask/shipped_files.h"
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

namespace occupipe::cli {
namespace {

constexpr const char* about =
    "Input: a kernel and a GPU profile, as files or as shipped names. The kernel is a\n"
    "dependence graph (docs/reference/file-formats/kernel.md; examples in sim/kernels/), or CUDA\n"
    "source, PTX or machine code with the way it is launched: it is then compiled, executed on\n"
    "this machine, and what a sample of its groups executed is predicted\n"
    "(docs/how-to/predict-kernel.md).\n"
    "Output: a table on stdout, or JSON or CSV.\n"
    "Without --groups and without a launch in the kernel file, each core runs as many groups as\n"
    "it holds at once. 'limited by' names what limits the run: a subsystem, 'issue' or 'latency'.";

constexpr const char* examples =
    "occupipe predict saxpy --profile rtx-2070\n"
    "occupipe predict mix --profile rtx-2070 --model all --occupancy all --csv\n"
    "occupipe predict mix --profile gtx-1060 --set fma.f32.latency=8 --set issue.limit=2\n"
    "occupipe predict saxpy --profile rtx-2070 --stalls --timeline --sensitivity\n"
    "occupipe predict saxpy.cu --kernel saxpy --grid 64 --block 256 \\\n"
    "    --args 'x=f32[16384] y=f32[16384] 2.5 16384' --profile rtx-2080-ti\n"
    "occupipe predict matmul.cu --launch matmul.yaml --profile a100 --model all";

// Some seconds of one core, where neither --limit nor --estimate says what to do.
constexpr std::int64_t issued_before_estimate = 200'000'000;

struct Options {
    KernelsInRequest kernel;  // or a graph, as a file or a shipped name
    std::string profile;
    std::vector<std::string> models = {"pipeline"};
    analysis::LaunchesQuestion launches;
    std::string policy;  // empty: as the profile says
    std::string select;  // empty: as the profile says
    std::string order;   // empty: as the kernel says
    bool stall_counts = false;
    MemoryBehaviour memory;
    std::string memory_pricing = "per-access";
    std::string memory_order = "round_robin";
    CacheOptions caches;
    std::string limit = "60s";
    bool limited = false;  // by the user
    bool estimate = false;
    analysis::ProfileChanges changes;
    bool json = false;
    bool csv = false;
    std::string plot;
    ExplainOptions explain;
    AnnotateOptions annotate;
    bool report = false;  // the page alone, with more on it
};

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
        "--memory-behaviour: hit_rate and hit_latency are for x-model and gpuperf, "
        "requests_per_access for gpuperf, mdm and mdm-divergent; none of these is among the chosen "
        "models");
}

// The outputs must not replace what is read.
void keep_outputs_apart(const Options& options, const std::string& kernel) {
    keep_apart({{"KERNEL", kernel},
                {"--launch", options.kernel.execution.launch},
                {"--profile", analysis::shipped_profile(options.profile)}},
               {{"--plot", options.plot},
                {"--first-cycles svg", options.explain.svg},
                {"--first-cycles trace", options.explain.trace},
                {"--page", options.annotate.page}});
    report::check_plot_file(options.plot, options.explain.force);
}

analysis::Question question_of(const Options& options) {
    analysis::Question question;
    question.source = options.kernel.source();
    question.gpu = options.profile;
    question.changes = options.changes;
    question.launches = options.launches;
    question.models = options.models;
    question.memory = {.pricing = *analysis::memory_pricing(options.memory_pricing),
                       .caches = options.caches.sizes(),
                       .predicted_order = options.memory_order == "predicted"};
    question.run = {.policy = parse_policy(options.policy),
                    .select = parse_select(options.select),
                    .order = parse_order(options.order),
                    .stall_counts = options.stall_counts,
                    .estimate = options.estimate,
                    .behaviour = options.memory};
    const sim::RunViews::Wanted views = wanted_views(options.explain, options.annotate.any());
    const bool observed = views.stalls || views.timeline_cycles;
    if (!options.estimate && !options.limited && !observed) {
        question.run.estimate = true;
        question.run.exact = issued_before_estimate;
    }
    return question;
}

KernelOrigin origin_of(const std::string& file, const analysis::Ready& ready) {
    KernelOrigin origin{.file = file};
    if (const analysis::KernelIn* const in = ready.code()) {
        origin.code = in->code.get();
        origin.architecture = in->architecture;
    }
    return origin;
}

// The simulation at every occupancy, and what would help.
report::KernelPageMore more_of_page(const analysis::Question& question,
                                    const analysis::Answer& answer,
                                    const ModelOptions& model_options) {
    const analysis::Told& own = answer.launches.front();
    report::KernelPageMore more;
    if (const analysis::KernelIn* const in = answer.ready.code()) more.occupancy = in->occupancy;
    // The same groups, so many at once: up to as many as there are, which is what fits.
    std::vector<analysis::Told> shapes;
    for (int at_once = 1; at_once <= own.launch.concurrent_groups; ++at_once) {
        Launch shape = own.launch;
        shape.concurrent_groups = at_once;
        shapes.push_back(analysis::told(answer.ready, shape, {.run = question.run}));
    }
    more.occupancies.resize(shapes.size());
    const Model& pipeline = find_model("pipeline");
    parallel_for(shapes.size(), [&](std::size_t i) {
        more.occupancies[i] = analysis::predict(shapes[i], pipeline, model_options);
    });
    more.what_ifs = analysis::sensitivities(own.profile(), own.kernel(), own.launch,
                                            model_options.simulation());
    if (!more.what_ifs.empty())
        more.cycles = more.what_ifs.front().cycles + more.what_ifs.front().gain;
    return more;
}

analysis::Prepare pricing_of(const analysis::Ready& ready, const Launch& launch) {
    return [&ready, launch](const Kernel& told, const GpuProfile& drawn) {
        analysis::PricedMemory priced = analysis::reprice(ready, told, drawn, launch);
        return analysis::PreparedKernel{std::move(priced.kernel), std::move(priced.profile)};
    };
}

bool priced(const analysis::Ready& ready, const analysis::Told& one) {
    return ready.memory.pricing != analysis::MemoryPricing::none &&
           !one.priced->memory.rows.empty();
}

// Intervals of lines and instructions, where the draws of --uncertainty can be afforded.
void tell_intervals(analysis::Annotation& annotation, const analysis::Answer& answer,
                    const ExplainOptions& options, const SimulationOptions& simulation) {
    const analysis::Told& one = answer.launches.front();
    const int draws = analysis::draws_by_line(annotation, *options.uncertainty);
    if (draws == 0) {
        annotation.notes.emplace_back(
            "lines have no intervals: fewer than 20 draws, or one simulation executes too many "
            "instructions for 20");
        return;
    }
    if (priced(answer.ready, one))
        analysis::add_intervals(annotation, answer.ready.profile, one.priced->told, one.launch,
                                simulation, draws, options.seed,
                                pricing_of(answer.ready, answer.launches.front().launch));
    else
        analysis::add_intervals(annotation, one.profile(), one.kernel(), one.launch, simulation,
                                draws, options.seed);
}

void warn(const std::string& line) { fmt::print(stderr, "occupipe: warning: {}\n", line); }

void predict(const Options& options) {
    const analysis::Question question = question_of(options);
    ExecutionRequest execution = options.kernel.execution;
    execution.limit = options.limit;
    std::string path;
    analysis::Asking asking{.reading = reading_of(execution)};
    asking.reading.found = [&](const std::string& file) {
        path = file;
        keep_outputs_apart(options, file);
    };
    analysis::Answer answer =
        analysis::asked(question, analysis::named_profile(options.profile), asking);
    const analysis::Ready& ready = answer.ready;
    require_use(options.memory, answer.models);
    if (!options.plot.empty()) report::require_curve(answer.launches.size());
    using analysis::Note;
    for (const Note& one :
         notes_before(answer))  // CSV has no place for those that nobody asked for
        if (one.kind == Note::Kind::weak || (options.csv && !analysis::asked_for(one.kind)))
            warn(analysis::text(one));

    ModelOptions model_options = question.run.options();
    RunLimit limit(options.limit);
    limit.apply(model_options);
    limit.apply(asking);
    sim::RunViews views(answer.launches.size() == 1
                            ? wanted_views(options.explain, options.annotate.any())
                            : sim::RunViews::Wanted{});
    asking.observers = views.observers();
    analysis::predict_all(answer, question, asking);
    const report::PredictionSet set{ready.kernel().name, options.profile, ready.profile.device.name,
                                    answer.predictions};
    for (const Note& one : answer.too_short) warn(analysis::text(one));
    const analysis::Told& first = answer.launches.front();
    const std::vector<analysis::MemoryRow>& memory_rows = first.priced->memory.rows;
    Explanation why;
    views.run(*first.problem, model_options.simulation());
    if (options.explain.any()) {
        if (answer.launches.size() > 1)
            throw InputError(
                "--stalls, --timeline, --first-cycles, --sensitivity and "
                "--uncertainty explain one launch; choose one --occupancy");
        const Unprepared before{.kernel = first.priced->told,
                                .profile = ready.profile,
                                .prepare = pricing_of(ready, first.launch)};
        why = explain(views, first.profile(), first.kernel(), first.launch,
                      model_options.simulation(), options.explain,
                      priced(ready, first) ? &before : nullptr);
    }
    if (options.annotate.any()) {
        if (answer.launches.size() > 1)
            throw InputError("--annotate and --page are of one launch; choose one --occupancy");
        analysis::Annotation annotation =
            annotation_of(*views.stalls(), first.kernel(), first.launch, origin_of(path, ready),
                          options.annotate);
        if (question.memory.pricing == analysis::MemoryPricing::per_access)
            analysis::add_hits(annotation, memory_rows);
        if (options.explain.uncertainty)
            tell_intervals(annotation, answer, options.explain, model_options.simulation());
        why.text += annotation_text(annotation, options.annotate);
        why.json["annotation"] = report::to_json(annotation);
        report::KernelPageMore more;
        if (options.report) more = more_of_page(question, answer, model_options);
        write_page(set, annotation, options.annotate, options.explain.force, more);
    }
    if (options.report) return;
    // Executions are the launch's, times the last core's: shares only where groups are alike.
    const auto& groups = ready.kernel().groups;
    const bool alike = !groups || groups->kinds.size() == 1;
    const Prediction* const shares_of = alike ? &set.predictions.front() : nullptr;
    if (options.json) {
        nlohmann::ordered_json json = report::to_json(set);
        json.update(why.json);
        if (!memory_rows.empty())
            json["memory"] = report::memory_json(first.priced->memory, shares_of);
        fmt::print("{}\n", json.dump(2));
    } else if (options.csv) {
        fmt::print("{}", report::to_csv(set));
        std::fflush(stdout);
        fmt::print(stderr, "{}", why.text);  // no part of the table
    } else {
        fmt::print("{}{}", report::to_text(set), why.text);
        if (answer.launches.size() == 1 && !memory_rows.empty())
            fmt::print("\n{}", report::memory_table(first.priced->memory, shares_of));
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
    options.changes = request.changes;
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
    command.add_option("--group-warps", options->launches.choice.group_warps, "Warps per group")
        .check(positive_number())
        .type_name("N");
    command
        .add_option("--concurrent-groups", options->launches.choice.concurrent_groups,
                    "Groups that a core holds at once")
        .check(positive_number())
        .type_name("N");
    command.add_option("--groups", options->launches.choice.groups, "Groups of the whole launch")
        .check(positive_number())
        .type_name("N");
    command
        .add_option("--occupancy", options->launches.occupancy,
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
            "λ and Λ of memory instructions, if the kernel says what they ask: by the\n"
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
    add_cache_options(command, options->caches);
    const Option limit = add_limit_option(command, options->limit);
    command.add_flag(
        "--estimate", options->estimate,
        "Extrapolate simulations of more than 5 million instructions from smaller runs,\n"
        "without --limit those of more than 200 million; the result is marked as an\n"
        "estimate and has an observed bound of its error");
    add_change_options(command, options->changes);
    const Option json = command.add_flag("--json", options->json, "Print JSON");
    command.add_flag("--csv", options->csv, "Print CSV").excludes(json);
    add_plot_option(command, options->plot,
                    "throughput over occupancy, a curve per\nmodel (needs --occupancy)");
    add_explain_options(command, options->explain);
    add_annotate_options(command, options->annotate);
    add_kernels_in_options(command, options->kernel);
    command.show_first({"--profile", "--model", "--occupancy", "--set", "--launch", "--stalls",
                        "--annotate", "--page", "--json", "--csv"});
    command.callback([options, limit] {
        options->limited = limit.given();
        predict(*options);
    });
}

}  // namespace occupipe::cli
