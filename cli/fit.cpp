// SPDX-License-Identifier: MIT
#include "analysis/measured/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/moved_program.h"
#include "cli/options.h"
#include "cli/reported.h"
#include "core/automatch_rows.h"
#include "core/error.h"
#include "core/files/files.h"
#include "fit/import/gpu_stream.h"
#include "fit/profile/fit_report.h"
#include "report/figures/fit_figures.h"
#include "report/figures/plot_file.h"

namespace occupipe::cli {
namespace {

struct Arguments {
    std::vector<std::string> results;
    std::string output;
    std::string report;
    std::string plot;
    std::vector<std::string> plot_only;
    std::string import_format;
    std::optional<int> warp_size;
    std::optional<double> overhead;
    bool force = false;
};

// Before the fit, so that nobody waits for a result that cannot be written.
void refuse_existing(const std::string& path, bool force) {
    if (!force && std::filesystem::exists(path))
        throw InputError(path, SourcePosition{}, "", "exists; --force replaces it");
}

// Curves of another program: their laws to stdout; they lack the device facts of a profile.
void run_import(const Arguments& arguments) {
    if (!arguments.output.empty() || !arguments.report.empty() || !arguments.plot.empty())
        throw InputError(
            "--import: these files lack the device facts of a profile; leave out --output, "
            "--report and --plot");
    for (const std::string& path : arguments.results) {
        const int threads = arguments.warp_size.value_or(gpu_stream_warp_size(path));
        const auto kernels = parse_gpu_stream(read_text_file(path), path, threads);
        fmt::print("{} (warps of {} threads)\n{}", path, threads, format_contention_table(kernels));
    }
}

void run_fit(const Arguments& arguments) {
    std::vector<NamedPath> inputs;
    add_paths(inputs, "FILE.json", arguments.results);
    keep_apart(
        inputs,
        {{"--output", arguments.output}, {"--page", arguments.report}, {"--plot", arguments.plot}});
    refuse_existing(arguments.output, arguments.force);
    if (!arguments.report.empty()) refuse_existing(arguments.report, arguments.force);
    report::check_plot_file(arguments.plot, arguments.force);
    std::vector<MeasurementFile> files;
    for (const std::string& path : arguments.results) files.push_back(read_measurements(path));
    const bool automatch = has_automatch_rows(files);
    if (automatch && std::ranges::all_of(without_automatch_rows(files),
                                         [](const auto& file) { return file.rows.empty(); })) {
        if (!arguments.plot.empty())
            throw std::runtime_error("--plot: nothing to draw: there are no instructions");
        fmt::print(stderr,
                   "occupipe: note: 'automatch fit' fits what 'automatch measure' measured\n");
        std::vector<std::string> words = {"fit", "-o", arguments.output};
        if (!arguments.report.empty()) words.insert(words.end(), {"--report", arguments.report});
        if (arguments.force) words.emplace_back("--force");
        words.insert(words.end(), arguments.results.begin(), arguments.results.end());
        become_automatch(words);
    }
    FitOptions options;
    options.timing.known_overhead_cycles = arguments.overhead;
    const FitOutcome outcome = analysis::fit(files, options);
    const Overwrite overwrite = arguments.force ? Overwrite::yes : Overwrite::no;
    write_text_file(arguments.output, format_profile(outcome.profile), overwrite);
    if (!arguments.report.empty())
        write_text_file(arguments.report, format_fit_report(outcome), overwrite);
    fmt::print("{}", format_fit_table(outcome));
    fmt::print(stderr, "wrote {}\n", arguments.output);
    if (automatch && !has_automatch()) {
        fmt::print(stderr,
                   "occupipe: note: without the program automatch beside this one, the profile has "
                   "no 'match' section\n");
    } else if (automatch) {
        std::vector<std::string> words = {"fit", "--into", arguments.output};
        words.insert(words.end(), arguments.results.begin(), arguments.results.end());
        const AutomatchRun run = run_automatch(words);
        fmt::print(stderr, "{}", run.said);
        if (run.exit_code != 0) throw Reported(run.exit_code);
    }
    if (!arguments.plot.empty())
        report::write_plot(arguments.plot, report::fit_plot(outcome, arguments.plot_only),
                           arguments.force);
}

}  // namespace

void add_fit(const Command& app) {
    auto arguments = std::make_shared<Arguments>();
    const Command command = app.subcommand(
        "fit", "Fit λ and Λ of each instruction to measurements, and write a GPU profile");
    command.add_option("results", arguments->results, "Measurement files of one device (JSON)")
        .required()
        .type_name("FILE.json");
    const Option output =
        command.add_option("-o,--output", arguments->output, "PROFILE.yaml to write")
            .type_name("PROFILE.yaml");
    command
        .add_option("--page|--report", arguments->report,
                    "FILE.md to write: curves, fits, residuals, rejected rows")
        .type_name("FILE.md");
    add_plot_option(command, arguments->plot, "the measured curves with their fits");
    command
        .add_option("--instructions|--plot-only", arguments->plot_only,
                    "Instructions to draw, separated by commas (default: all)")
        .delimiter(',')
        .type_name("NAME");
    const Option import =
        command
            .add_option("--import", arguments->import_format,
                        "Instead, read another program's results and print B, Λ0 and h per kernel")
            .check(one_of({"gpu-stream"}));
    command
        .add_option("--given warp_size|--warp-size", arguments->warp_size,
                    "With --import: threads per warp (default: 64 for files named mi…, else 32)")
        .needs(import)
        .check(in_range(1, 1024))
        .type_name("N");
    command
        .add_option("--given overhead|--overhead", arguments->overhead,
                    "Cycles of a launch that runs no instruction, if known. One depth is then\n"
                    "enough, and the profile says that it was given")
        .check(number_not_negative())
        .type_name("CYCLES");
    command.add_flag("--force", arguments->force, "Replace existing files");
    add_help_end(
        command,
        {.text =
             "Input: what 'occupipe measure' wrote. Output: a profile (YAML), and its table on "
             "stdout.\n"
             "A parameter that the data do not determine is shown as a bound (≤ or ≥) and marked\n"
             "identifiable: false in the profile. Standard errors, flags and laws: "
             "docs/background/fitting.md.",
         .exit_codes = {},
         .examples = "occupipe fit results/cpu-amd-zen4-pocl/2026-11-21-quick.json -o cpu.yaml"});
    command.callback([arguments, output] {
        if (!arguments->import_format.empty()) return run_import(*arguments);
        if (!output.given()) throw MissingOption("--output");
        run_fit(*arguments);
    });
}

}  // namespace occupipe::cli
