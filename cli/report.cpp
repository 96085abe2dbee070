// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "ask/kernels_in.h"
#include "cli/commands.h"
#include "cli/kernel_page.h"
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
    KernelPageRequest kernel;
    bool force = false;
};

// Whether the page is of a kernel: its file, or the launch file alone, says so.
bool is_of_kernel(const Arguments& arguments) {
    return !arguments.kernel.profile.empty() || analysis::names_kernels(arguments.folder) ||
           analysis::describes_launch(arguments.kernel.kernel.execution);
}

void report_kernel(Arguments& arguments) {
    if (arguments.kernel.profile.empty())
        throw InputError("a page of a kernel needs the GPU: --profile P");
    if (!arguments.beside.empty()) throw InputError("--beside goes with a folder of measurements");
    arguments.kernel.kernel.execution.kernels = arguments.folder;
    arguments.kernel.limit = arguments.limit;
    arguments.kernel.output = arguments.output;
    arguments.kernel.force = arguments.force;
    if (!arguments.force && std::filesystem::exists(arguments.output))
        throw InputError(arguments.output, {}, "", "exists; --force replaces it");
    write_kernel_page(arguments.kernel);
    fmt::print(stderr, "wrote {}\n", arguments.output);
}

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
    for (const auto add : report::report_sections()) add(page, data);
    const std::string title = fmt::format("Instruction costs of {}", data.fit.profile.device.name);
    const std::string text = page.finish(title, report::report_head(data));
    write_text_file(arguments.output, text, arguments.force ? Overwrite::yes : Overwrite::no);
    fmt::print(stderr, "wrote {} ({:.1f} MB)\n", arguments.output,
               static_cast<double>(text.size()) * 1e-6);
}

}  // namespace

void add_report(const Command& app) {
    auto arguments = std::make_shared<Arguments>();
    const Command command = app.subcommand(
        "report", "Make one HTML page of figures and tables from a folder of measurements");
    command
        .add_option("folder", arguments->folder,
                    "Folder that characterize wrote; or a kernel, as 'predict' takes it, for a\n"
                    "page of that kernel on --profile")
        .type_name("DIR|KERNEL");
    command.add_option("-o,--output", arguments->output, "Page to write")
        .required()
        .type_name("FILE.html");
    command
        .add_option("--beside", arguments->beside,
                    "Profiles of other devices, for the quadrant-split plot")
        .type_name("PROFILE");
    constexpr const char* of_kernel = "Page of a kernel";
    command
        .add_option("--profile", arguments->kernel.profile,
                    "GPU on which the kernel is predicted: a file (YAML) or a shipped name")
        .type_name("PROFILE")
        .group(of_kernel);
    add_change_options(command, arguments->kernel.changes, of_kernel);
    command
        .add_option("--source-folder", arguments->kernel.source_folder,
                    "Where the source is (default: the folder of KERNEL)")
        .type_name("DIR")
        .group(of_kernel);
    add_kernels_in_options(command, arguments->kernel.kernel);
    add_limit_option(command, arguments->limit);
    command.add_flag("--force", arguments->force, "Replace an existing file");
    add_help_end(
        command,
        {.text =
             "All measurement files of the folder are fitted together, as 'fit' does.\n"
             "A page of a kernel has its occupancy, the prediction of every model, what would "
             "help,\n"
             "what its warps wait for, and its source with links to the machine instructions.\n"
             "Output: one self-contained file for any browser, light or dark, and for printing.\n"
             "Needs gnuplot for a folder.",
         .exit_codes = {exit_limit_reached, exit_interrupted},
         .examples = "occupipe report results/cpu-amd-zen4-pocl -o report.html\n"
                     "occupipe report matmul.cu --launch matmul.yaml --profile a100 -o mm.html"});
    command.show_first({"-o,--output", "--beside", "--profile", "--launch", "--force"});
    command.callback([arguments] {
        if (is_of_kernel(*arguments)) return report_kernel(*arguments);
        if (arguments->folder.empty()) throw MissingOption("folder");
        report(*arguments);
    });
}

}  // namespace occupipe::cli
