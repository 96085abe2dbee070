// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "core/error.h"
#include "core/files.h"
#include "fit/build_profile.h"
#include "fit/report.h"

namespace occupipe::cli {
namespace {

struct Arguments {
    std::vector<std::string> results;
    std::string output;
    std::string report;
    bool force = false;
};

// Before the fit, so that nobody waits for a result that then cannot be written.
void refuse_existing(const std::string& path, bool force) {
    if (!force && std::filesystem::exists(path))
        throw InputError(path, SourcePosition{}, "", "exists; --force replaces it");
}

void run_fit(const Arguments& arguments) {
    refuse_existing(arguments.output, arguments.force);
    if (!arguments.report.empty()) refuse_existing(arguments.report, arguments.force);
    std::vector<MeasurementFile> files;
    for (const std::string& path : arguments.results) files.push_back(read_measurements(path));
    const FitOutcome outcome = fit_measurements(files);
    const Overwrite overwrite = arguments.force ? Overwrite::yes : Overwrite::no;
    write_text_file(arguments.output, format_profile(outcome.profile), overwrite);
    if (!arguments.report.empty())
        write_text_file(arguments.report, format_fit_report(outcome), overwrite);
    fmt::print("{}", format_fit_table(outcome));
    fmt::print(stderr, "wrote {}\n", arguments.output);
}

}  // namespace

void add_fit(CLI::App& app) {
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command =
        app.add_subcommand("fit", "Fit λ and Λ of each instruction; write a GPU profile");
    command->add_option("results", arguments->results, "measurement files of one device (JSON)")
        ->required();
    command->add_option("-o,--output", arguments->output, "PROFILE.yaml to write")->required();
    command->add_option("--report", arguments->report,
                        "FILE.md to write: curves, fits, residuals, what was rejected");
    command->add_flag("--force", arguments->force, "replace existing files");
    command->footer(
        "A parameter that the data do not determine is shown as a bound (≤) and marked\n"
        "identifiable: false in the profile. Standard errors, flags and laws: docs/fitting.md.");
    command->callback([arguments] { run_fit(*arguments); });
}

}  // namespace occupipe::cli
