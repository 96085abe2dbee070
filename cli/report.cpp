// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/run_limit.h"
#include "core/error.h"
#include "core/files/files.h"
#include "report/page/sections.h"

namespace occupipe::cli {
namespace {

struct Arguments {
    std::string folder;
    std::string output;
    std::vector<std::string> beside;
    std::string limit = "600s";
    bool force = false;
};

void report(const Arguments& arguments) {
    std::vector<NamedPath> inputs = {{"DIR", arguments.folder}};
    add_paths(inputs, "--beside", arguments.beside);
    keep_apart(inputs, {{"--output", arguments.output}});
    if (!arguments.force && std::filesystem::exists(arguments.output))
        throw InputError(arguments.output, {}, "", "exists; --force replaces it");
    report::ReportData data = report::read_report_data(arguments.folder, arguments.beside);
    RunLimit limit(arguments.limit);
    limit.apply(data.model_options);
    report::ReportPage page;
    report::add_device_section(page, data);
    report::add_timing_section(page, data);
    report::add_occupancy_section(page, data);
    report::add_mix_section(page, data);
    report::add_model_section(page, data);
    report::add_roofline_section(page, data);
    report::add_memory_section(page, data);
    report::add_accuracy_section(page, data);
    report::add_validation_section(page, data);
    report::add_instruction_section(page, data);
    const std::string title = fmt::format("Instruction costs of {}", data.fit.profile.device.name);
    const std::string text = page.finish(title, report::report_head(data));
    write_text_file(arguments.output, text, arguments.force ? Overwrite::yes : Overwrite::no);
    fmt::print(stderr, "wrote {} ({:.1f} MB)\n", arguments.output,
               static_cast<double>(text.size()) * 1e-6);
}

}  // namespace

void add_report(CLI::App& app) {
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand(
        "report", "Make one HTML page of figures and tables from a folder of measurements");
    command->add_option("folder", arguments->folder, "Folder that characterize wrote")
        ->required()
        ->type_name("DIR");
    command->add_option("-o,--output", arguments->output, "Page to write")
        ->required()
        ->type_name("FILE.html");
    command
        ->add_option("--beside", arguments->beside,
                     "Profiles of other devices, for the quadrant-split plot")
        ->type_name("PROFILE");
    add_limit_option(*command, arguments->limit);
    command->add_flag("--force", arguments->force, "Replace an existing file");
    add_help_end(
        *command,
        {.text =
             "All measurement files of the folder are fitted together, as 'fit' does.\n"
             "Output: one self-contained file for any browser, light or dark, and for printing.\n"
             "Needs gnuplot.",
         .exit_codes = {exit_limit_reached, exit_interrupted},
         .examples = "occupipe report results/cpu-amd-zen4-pocl -o report.html"});
    command->callback([arguments] { report(*arguments); });
}

}  // namespace occupipe::cli
