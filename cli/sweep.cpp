// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "analysis/sweep/sweep_run.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/options.h"
#include "cli/reported.h"
#include "cli/run_limit.h"
#include "core/error.h"
#include "core/files/files.h"
#include "sim/engine/run_progress.h"

namespace occupipe::cli {
namespace {

constexpr const char* about =
    "Input: a spec (YAML, docs/reference/file-formats/sweep.md): kernels as graphs or as machine\n"
    "code with its launches, profiles, models, launches, and ranges of what 'predict --set'\n"
    "changes. Every combination is predicted.\n"
    "Output: CSV, a row per prediction, in an order that neither threads nor shards change; a\n"
    "prediction that 'predict' refuses is a row with the reason. FILE.sweep.json beside it says\n"
    "what the rows were made of. The same command continues where it ended.\n"
    "--join puts the shards of a sweep together, which is to write them one after the other.";

constexpr const char* examples =
    "occupipe sweep latencies.yaml --dry-run\n"
    "occupipe sweep latencies.yaml -o rows.csv\n"
    "occupipe sweep latencies.yaml -o rows-2.csv --shard 2/8\n"
    "occupipe sweep --join rows-1.csv rows-2.csv -o rows.csv";

struct Options {
    std::string spec;
    std::string output;
    std::string shard = "1/1";
    std::string limit = "100000000";
    unsigned threads = 0;
    std::vector<std::string> join;
    bool count = false;
    bool force = false;
};

analysis::SweepLimit limit_of(const std::string& text) {
    const Limit limit = parse_limit(text);
    return {.instructions = limit.count.value_or(std::numeric_limits<std::int64_t>::max() / 4),
            .seconds = limit.seconds.value_or(0),
            .text = text};
}

// "1200000 of 5000000 predictions, 3:12 left": rewritten in place on a terminal, else a line every
// ten seconds.
class ProgressLine {
public:
    void operator()(const analysis::SweepProgress& now) {
        const bool first = last_ < 0;
        if (!first && now.done != now.rows && now.seconds < last_ + (terminal_ ? 0.5 : 10)) return;
        last_ = now.seconds;
        std::string left;
        if (const std::int64_t made = now.done - now.resumed_at; made > 0 && now.done < now.rows)
            left =
                fmt::format(", {} left", duration_text(now.seconds / static_cast<double>(made) *
                                                       static_cast<double>(now.rows - now.done)));
        fmt::print(stderr, "{}{} of {} predictions{}{}", terminal_ ? "\r\033[K" : "", now.done,
                   now.rows, left, terminal_ && now.done != now.rows ? "" : "\n");
        std::fflush(stderr);
    }

private:
    bool terminal_ = isatty(STDERR_FILENO) != 0;
    double last_ = -1;
};

void join(const Options& options) {
    if (!options.spec.empty())
        throw InputError("--join takes the files of shards, and no SPEC besides");
    if (options.output.empty()) throw InputError("--join: where to? -o names the file");
    std::vector<NamedPath> inputs;
    add_paths(inputs, "--join", options.join);
    keep_apart(inputs, {{"--output", options.output}});
    const std::vector<std::filesystem::path> shards(options.join.begin(), options.join.end());
    const std::int64_t rows = analysis::join_shards(shards, options.output, options.force);
    fmt::print(stderr, "{} predictions in {}\n", rows, options.output);
}

void sweep(const Options& options) {
    if (!options.join.empty()) return join(options);
    if (options.spec.empty()) throw InputError("which sweep? SPEC is a YAML file");
    const Shard shard = parse_shard(options.shard);
    const analysis::SweepLimit limit = limit_of(options.limit);
    keep_apart({{"SPEC", options.spec}},
               {{"--output", options.output},
                {"--output's .sweep.json",
                 options.output.empty() ? std::string() : options.output + ".sweep.json"}});
    const std::string text = read_text_file(options.spec);
    const analysis::Sweep sweep(analysis::parse_sweep(text, options.spec), options.spec, text,
                                std::filesystem::path(options.spec).parent_path(), limit);
    for (const std::string& line : sweep.warnings())
        fmt::print(stderr, "occupipe: warning: {}\n", line);
    if (options.count) {
        fmt::print("{} predictions: {}\n", sweep.rows(), sweep.shape());
        return;
    }
    if (options.output.empty())
        throw InputError("where to? -o names the file (rows.csv); --dry-run only counts");
    const StopOnSignal stop;
    ProgressLine progress;
    try {
        const analysis::SweepOutcome outcome = analysis::run_sweep(
            sweep, {.output = options.output,
                    .shard = shard,
                    .threads = options.threads,
                    .force = options.force,
                    .stop = &StopOnSignal::stopped(),
                    .progress = [&](const analysis::SweepProgress& now) { progress(now); },
                    .warn =
                        [](const std::string& line) {
                            fmt::print(stderr, "occupipe: warning: {}\n", line);
                        }});
        fmt::print(stderr, "{} predictions in {}, {} of them refused with a reason\n", outcome.rows,
                   options.output, outcome.refused);
    } catch (const Interrupted&) {
        throw Interrupted(
            fmt::format("interrupted; the same command continues {}", options.output));
    }
}

}  // namespace

void add_sweep(const Command& app) {
    const auto options = std::make_shared<Options>();
    const Command command = app.subcommand(
        "sweep", "Predict every combination of kernels, profiles, settings, launches and models");
    add_help_end(command, {.text = about, .exit_codes = {exit_interrupted}, .examples = examples});
    command.add_option("spec", options->spec, "What to predict (YAML)").type_name("SPEC.yaml");
    command.add_option("-o,--output", options->output, "CSV to write or to continue")
        .type_name("FILE");
    command.add_option("--shard", options->shard, "Only part I of N: consecutive rows")
        .show_default()
        .type_name("I/N");
    command
        .add_option("--limit", options->limit,
                    "Refuse a prediction after one simulation has issued this many instructions\n"
                    "one by one, or machine code has executed as many for all warps; or after so\n"
                    "many seconds (60s), which not every machine needs")
        .show_default()
        .type_name("N|Ns");
    command.add_option("--threads", options->threads, "Threads (default: one per core)")
        .check(in_range(1U, 4096U))
        .type_name("N");
    command.add_flag("--dry-run|--count", options->count,
                     "Print how many predictions these are, no more");
    command.add_option("--join", options->join, "Join the files of all shards").type_name("FILE");
    command.add_flag("--force", options->force, "Replace a file that is another sweep's");
    command.callback([options] { sweep(*options); });
}

}  // namespace occupipe::cli
