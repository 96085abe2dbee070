// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>

#include "analysis/device/open_device.h"
#include "analysis/measured/fit.h"
#include "cli/commands.h"
#include "cli/measure_device.h"
#include "cli/options.h"
#include "core/files/files.h"
#include "report/page/findings.h"
#include "report/text/slope_accuracy.h"
#include "report/text/summary.h"
#include "report/text/timing_table.h"

namespace occupipe::cli {
namespace {

struct Arguments : DeviceRun {
    std::filesystem::path folder;
};

// How to call this program from the current folder.
std::string own_path() {
    std::error_code none;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", none);
    if (program.empty()) return "occupipe";
    const auto near = std::filesystem::relative(program, none);
    return (near.empty() || near.string().starts_with("../..") ? program : near).string();
}

void characterize(Arguments& arguments) {
    const auto measurements = arguments.folder / "measurements.json";
    std::vector<NamedPath> outputs;
    for (const char* name :
         {"measurements.json", "profile.yaml", "selfcheck.md", "table.md", "summary.md"})
        outputs.push_back({"--output", arguments.folder / name});
    outputs.push_back(receipts_output(arguments.request.receipts));
    keep_apart(device_inputs(arguments.device, arguments.kernels), outputs);
    const auto backend = analysis::open_named_device(arguments.device, arguments.kernels);
    std::filesystem::create_directories(arguments.folder);
    if (std::filesystem::exists(measurements) && !arguments.force) {
        fmt::print(stderr, "{} is complete and is not measured again (--force measures again)\n",
                   measurements.string());
    } else {
        arguments.request.output = measurements;
        arguments.request.overwrite = Overwrite::yes;
        if (!measure_device(*backend, arguments.request)) throw std::runtime_error("interrupted");
    }
    // From here on everything follows from the measurements and can be made again.
    const std::array files = {read_measurements(measurements)};
    require_measured_on(files.front(), backend->facts());
    const FitOutcome fitted = analysis::fit(files);
    const std::string table = report::format_timing_table(report::timing_table({fitted.profile}),
                                                          report::TableFormat::markdown, true);
    const std::string check =
        report::slope_accuracy_text(analysis::slope_accuracy(files.front(), fitted.profile));
    const report::Summary summary = report::summarised(files.front(), fitted.profile, table, check);
    std::vector<report::CheckedProfile> checked;
    checked.push_back({"profile.yaml", &fitted.profile,
                       analysis::self_check({.profile = fitted.profile, .measurements = files})});
    write_text_file(arguments.folder / "selfcheck.md",
                    report::findings_markdown(checked, analysis::built_in_published()),
                    Overwrite::yes);
    write_text_file(arguments.folder / "profile.yaml", format_profile(fitted.profile),
                    Overwrite::yes);
    write_text_file(arguments.folder / "table.md", table, Overwrite::yes);
    write_text_file(arguments.folder / "summary.md", summary.text + summary.not_measured,
                    Overwrite::yes);
    fmt::print("{}\n{}", summary.text,
               report::closing_lines(fitted.profile, checked.front().check, summary.left_out,
                                     arguments.folder.string(), own_path()));
}

}  // namespace

void add_characterize(const Command& app) {
    auto arguments = std::make_shared<Arguments>();
    const Command command =
        app.subcommand("characterize", "Measure, fit, tabulate and check a device in one go");
    add_device_options(command, *arguments, "Measure again even if the folder has results");
    command
        .add_option("--instructions", arguments->request.instructions,
                    "As for measure (default: all that the device supports)")
        .check(instruction_list())
        .type_name("LIST");
    command.add_flag("--quick", arguments->request.quick, "Fewer launch shapes and repetitions");
    command.add_option("-o,--output", arguments->folder, "Folder for the results")
        .required()
        .type_name("FOLDER");
    add_help_end(
        command,
        {.text =
             "Input: a device. Output, in FOLDER: measurements.json, profile.yaml (λ and Λ with "
             "standard\n"
             "errors), table.md, summary.md and selfcheck.md.\n"
             "After an interruption, run the same command again to go on where it stopped. On a\n"
             "complete folder it fits and reports again without measuring.",
         .exit_codes = {exit_nothing_to_run_on, exit_device_lost},
         .examples = "occupipe characterize --quick -o out\n"
                     "occupipe characterize --device 'model:profiles/nvidia-gtx-1060.yaml' --quick "
                     "-o simulated"});
    command.callback([arguments] { characterize(*arguments); });
}

}  // namespace occupipe::cli
