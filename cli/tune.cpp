// SPDX-License-Identifier: MIT
#include "analysis/tuning/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "analysis/tuning/measured_runs.h"
#include "analysis/tuning/ranking.h"
#include "analysis/tuning/space.h"
#include "ask/code_cache.h"
#include "ask/shipped_files.h"
#include "bench/harness/date.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/run_limit.h"
#include "core/error.h"
#include "core/files/files.h"
#include "report/text/tuned.h"
#include "sim/engine/run_progress.h"

namespace occupipe::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* about =
    "Compiles, executes and predicts every configuration of a tuner's search space, without a\n"
    "GPU, and ranks them: which ones are worth measuring, and what limits them.\n"
    "Input: the tuner's own description of the space (T1, KTT), or a short YAML\n"
    "(docs/reference/file-formats/search-space.md): kernel, values, restrictions, launch, "
    "arguments.\n"
    "Output: the best ones, or the --top ones to measure, and what each tunable does, on stdout;\n"
    "every configuration, refused ones with the reason, in FILE. What is done is kept in\n"
    "FILE.journal until all is done, so that the same command continues after --limit, Ctrl-C or\n"
    "a crash. Compiled code is kept in ~/.cache/occupipe (OCCUPIPE_CACHE=FOLDER, or none).\n"
    "Each shard keeps its FILE.journal, which --join reads; what shards lack is predicted then.";

constexpr const char* examples =
    "occupipe tune convolution.json --profile a100 -o ranked.json\n"
    "occupipe tune convolution.json --profile a100 --budget 600s -o ranked.json --top 20\n"
    "occupipe tune convolution.json --profile a100 --draws 300 --limit 600s --top 20\n"
    "occupipe tune convolution.json --profile a100 -o ranked.json --measured first.csv --top 10\n"
    "occupipe tune convolution.json --profile a100 --format t4 -o predicted_T4.json\n"
    "occupipe tune convolution.json --profile a100 -o part-2.json --shard 2/8\n"
    "occupipe tune convolution.json --profile a100 -o ranked.json --join part-*.json";

// Instructions of each simulation, some seconds; a limit in seconds of the whole leaves it as it
// is. Launches of 3·10⁸ are usual where groups differ.
constexpr std::int64_t most_simulated = 1'000'000'000;

struct Options {
    std::string spec;
    std::string profile;
    std::string output;
    std::string format = "json";
    std::string limit = fmt::format("{}", most_simulated);
    std::string plot;
    std::string measured;
    std::vector<std::string> models = {"pipeline"};
    analysis::ProfileChanges changes;
    std::optional<int> top;
    std::string budget;
    std::optional<int> draws;
    std::optional<std::uint64_t> seed;
    std::string shard = "1/1";
    std::vector<std::string> join;
    unsigned threads = 0;
    bool json = false;
    bool force = false;
};

std::optional<double> budget_seconds(const std::string& text) {
    if (text.empty()) return std::nullopt;
    const std::optional<double> seconds = seconds_in(text);
    if (!seconds)
        throw InputError(
            fmt::format("--budget {}: expected a positive number of seconds, such as 600s", text));
    return seconds;
}

fs::path journal_of(const std::string& output) {
    return output.empty() ? fs::path() : fs::path(output + ".journal");
}

// Once all is done, but for a shard, whose rows another command reads.
void remove_journal(const analysis::TuneOptions& done) {
    std::error_code none;
    if (!done.journal.empty() && done.shard.count == 1) fs::remove(done.journal, none);
}

std::string content_of(const Options& options, const report::RankedSpace& ranked) {
    if (options.format == "t4") return report::to_t4(ranked, bench::date_now()).dump(1) + "\n";
    if (options.format == "kernel-tuner")
        return report::to_kernel_tuner(ranked, bench::date_now()).dump(1) + "\n";
    return report::to_json(ranked).dump(1) + "\n";
}

void print(const Options& options, const report::RankedSpace& ranked) {
    if (options.json)
        fmt::print("{}\n", report::to_json(ranked).dump(1));
    else
        fmt::print("{}", report::to_text(ranked));
    const auto left_out = std::ranges::count(ranked.tuned.rows, analysis::Refusal::prediction,
                                             &analysis::TunedConfiguration::refused);
    if (options.format != "json" && left_out > 0)
        fmt::print(
            stderr,
            "occupipe: note: {}: without the {} configurations that could not be predicted\n",
            options.output, left_out);
}

void check_files(const Options& options) {
    report::check_plot_file(options.plot, options.force);
    keep_apart({{"SPEC", options.spec}, {"--measured", options.measured}},
               {{"--output", options.output},
                {"--output's .journal", journal_of(options.output)},
                {"--plot", options.plot}});
    if (options.output.empty() && options.format != "json")
        throw InputError("--format: where to? -o names the file");
    if (options.output.empty() && parse_shard(options.shard).count > 1)
        throw InputError("--shard: where to? -o names the file");
    for (const std::string& shard : options.join)
        keep_apart({{"--join", shard}, {"--join's .journal", journal_of(shard)}},
                   {{"--output", options.output},
                    {"--output's .journal", journal_of(options.output)},
                    {"--plot", options.plot}});
    std::error_code none;
    if (!options.output.empty() && !options.force && fs::exists(options.output, none) &&
        !fs::exists(journal_of(options.output), none))
        throw InputError(fmt::format("{}: exists; --force replaces it", options.output));
}

void tune(const Options& options) {
    check_files(options);
    const GpuProfile profile = analysis::named_profile(options.profile);
    const analysis::TuningSpace space = analysis::read_tuning_space(options.spec);
    for (const std::string& note : space.notes)
        fmt::print(stderr, "occupipe: note: {}: {}\n", space.file, note);
    analysis::MeasuredRuns measured;
    if (!options.measured.empty()) {
        measured = analysis::read_measured_runs(options.measured);
        keep_those_of(space, measured);
        for (const std::string& note : measured.notes)
            fmt::print(stderr, "occupipe: note: {}: {}\n", measured.file, note);
        if (std::ranges::none_of(measured.runs,
                                 [](const auto& run) { return run.seconds.has_value(); }))
            throw InputError(fmt::format("{}: no configuration of {} has a time in it",
                                         options.measured, options.spec));
        if (measured.excluded > 0)
            fmt::print(stderr,
                       "occupipe: note: {}: {} configuration{} left out, which the space does not "
                       "have\n",
                       options.measured, measured.excluded, measured.excluded == 1 ? "" : "s");
    }
    RunLimit limit(options.limit);
    analysis::CodeCache cache(analysis::code_cache_folder());
    analysis::TuneOptions how;
    how.models = options.models;
    how.changes = options.changes;
    how.budget_seconds = budget_seconds(options.budget);
    how.max_simulated = parse_limit(options.limit, "instructions of each simulation")
                            .count.value_or(most_simulated);
    if (options.draws) how.draws = static_cast<std::size_t>(*options.draws);
    how.seed = options.seed.value_or(1);
    how.shard = parse_shard(options.shard);
    for (const std::string& shard : options.join) how.join.push_back(journal_of(shard));
    for (const analysis::MeasuredRun& run : measured.runs)
        if (run.seconds) how.first.push_back(run.configuration);
    how.cache = &cache;
    how.threads = options.threads;
    how.journal = journal_of(options.output);
    how.force = options.force;
    how.stop = [&] { return limit.over(); };
    how.progress = [&, stage = std::optional<analysis::Stage>()](
                       const analysis::TuneProgress& now) mutable {
        if (stage == now.stage) return limit.add_done();
        const bool first = !stage;
        stage = now.stage;
        if (now.stage == analysis::Stage::coarse)  // ends when all are done
            limit.begin_stage("coarse", now.done, now.all, {});
        else if (how.budget_seconds)
            limit.begin_stage("exact", now.done, now.all, now.left);
        else
            limit.expect(now.all - now.resumed);
        if (first && now.resumed > 0)
            fmt::print(stderr, "{} of {} configurations are in {} already\n", now.resumed, now.all,
                       how.join.empty() ? how.journal.string() : "the shards' journals");
    };
    const analysis::Tuned tuned = [&] {
        try {
            return analysis::tune(space, profile, how);
        } catch (const Interrupted&) {  // before there was anything to keep
            limit.require_time();
            throw;
        }
    }();
    const analysis::Ranking ranking =
        analysis::ranked(tuned, measured.runs, static_cast<std::size_t>(options.top.value_or(0)));
    const report::RankedSpace ranked{space, tuned, ranking};
    if (tuned.stopped && tuned.rows.empty()) limit.require_time();
    if (tuned.scale && tuned.scale->all.count == 0 && !ranking.order.empty())
        fmt::print(stderr,
                   "occupipe: note: all times are coarse: none could be predicted exactly in time "
                   "(--budget {})\n",
                   options.budget);
    limit.end_line();
    if (!options.output.empty())
        write_text_file(options.output, content_of(options, ranked), Overwrite::yes);
    if (ranking.order.empty() && !tuned.stopped) {
        if (how.shard.count > 1) {
            fmt::print("none of the {} configurations of this shard can be predicted\n",
                       tuned.rows.size());
            return;
        }
        remove_journal(how);
        throw InputError(fmt::format("no configuration can be predicted; the first: {}",
                                     tuned.rows.front().refusal));
    }
    print(options, ranked);
    if (!options.plot.empty() && !ranking.order.empty())
        report::write_plot(options.plot, report::tuned_plot(ranked), options.force);
    if (tuned.stopped) limit.require_time();
    remove_journal(how);
}

void add_tune_options(const Command& command, const std::shared_ptr<Options>& options) {
    command
        .add_option("spec", options->spec,
                    "The search space: a tuner's input (T1, KTT), or YAML of ours")
        .type_name("SPEC")
        .required();
    command.add_option("--profile", options->profile, "GPU: a profile, or a shipped one's name")
        .type_name("PROFILE")
        .required();
    command.add_option("-o,--output", options->output, "File to write or to continue")
        .type_name("FILE");
    command
        .add_option("--format", options->format,
                    "Of FILE: ours, or what tuners read in place of measurements")
        .check(one_of({"json", "t4", "kernel-tuner"}))
        .show_default();
    command
        .add_option("--top", options->top,
                    "So many configurations to measure: the best of different code, and among\n"
                    "them the best of other limiters")
        .check(in_range(1, 1000000))
        .type_name("N");
    command
        .add_option(
            "--measured", options->measured,
            "Times of some configurations (T4, Kernel Tuner, KTT, CSV): they are predicted\n"
            "first, one factor is fitted to them, and all are ranked anew")
        .type_name("FILE");
    command
        .add_option(
            "--budget", options->budget,
            "Seconds for the whole space (600s): all configurations coarsely first, from a\n"
            "few groups, then the best and the least known exactly until they are spent")
        .type_name("Ns");
    command
        .add_option("--draws", options->draws,
                    "So many configurations at random (default: all of the space)")
        .check(in_range(1, 1000000000))
        .type_name("N");
    command.add_option("--seed", options->seed, "Of the order and the draw (default: 1)")
        .type_name("N");
    command
        .add_option("--shard", options->shard,
                    "Only part I of N, such as 2/8, for several machines; each part is random")
        .type_name("I/N");
    command.add_option("--join", options->join, "Output files of shards, for what is done already")
        .type_name("FILE");
    command
        .add_option("--model", options->models, "Models, separated by commas; the first one ranks")
        .delimiter(',')
        .show_default()
        .type_name("MODEL");
    add_change_options(command, options->changes);
    add_limit_option(command, options->limit);
    command.add_option("--threads", options->threads, "Threads (default: one per core)")
        .check(in_range(1U, 4096U))
        .type_name("N");
    add_plot_option(command, options->plot, "predicted time against each tunable");
    command.add_flag("--json", options->json, "All configurations as JSON on stdout");
    command.add_flag("--force", options->force, "Replace files, and a journal of something else");
}

}  // namespace

void add_tune(const Command& app) {
    const auto options = std::make_shared<Options>();
    const Command command = app.subcommand(
        "tune", "Rank the configurations of a tuner's search space, without the GPU");
    add_help_end(command, {.text = about,
                           .exit_codes = {exit_limit_reached, exit_interrupted},
                           .examples = examples});
    add_tune_options(command, options);
    command.callback([options] { tune(*options); });
}

}  // namespace occupipe::cli
