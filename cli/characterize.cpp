// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>

#include "analysis/open_device.h"
#include "cli/commands.h"
#include "cli/measure_device.h"
#include "core/files/files.h"
#include "fit/profile/build_profile.h"
#include "report/page/findings.h"
#include "report/text/accuracy_on_measurements.h"
#include "report/text/summary.h"
#include "report/text/timing_table.h"

namespace occupipe::cli {
namespace {

struct Arguments {
    std::string device;
    std::filesystem::path kernels;
    MeasureRequest request;
    std::filesystem::path folder;
    bool force = false;
};

// How this program can be called from here.
std::string own_path() {
    std::error_code none;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", none);
    if (program.empty()) return "occupipe";
    const auto near = std::filesystem::relative(program, none);
    return (near.empty() || near.string().starts_with("../..") ? program : near).string();
}

void characterize(Arguments& arguments) {
    const auto measurements = arguments.folder / "measurements.json";
    const auto backend = analysis::open_named_device(arguments.device, arguments.kernels);
    std::filesystem::create_directories(arguments.folder);
    if (std::filesystem::exists(measurements) && !arguments.force) {
        fmt::print(stderr, "{} is complete: not measured again (--force measures anew)\n",
                   measurements.string());
    } else {
        arguments.request.output = measurements;
        arguments.request.overwrite = Overwrite::yes;
        if (!measure_device(*backend, arguments.request)) throw std::runtime_error("interrupted");
    }
    // From here on everything follows from the measurements and may be made again.
    const std::array files = {read_measurements(measurements)};
    const FitOutcome fitted = fit_measurements(files, {});
    const std::string table = report::format_timing_table(report::timing_table({fitted.profile}),
                                                          report::TableFormat::markdown, true);
    const std::string check = report::self_check(files.front(), fitted.profile);
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

void add_characterize(CLI::App& app) {
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand(
        "characterize", "Measure, fit, table and self-check in one go: a profile of this device");
    command->add_option("--device", arguments->device, analysis::device_help);
    command->add_option("--kernels", arguments->kernels, analysis::kernels_help);
    command->add_option("--instructions", arguments->request.instructions,
                        "as for measure; default: everything the device can do");
    command->add_flag("--quick", arguments->request.quick, "fewer shapes and repetitions");
    command->add_flag("--force", arguments->force, "measure anew even when the folder has results");
    command->add_option("-o,--output", arguments->folder, "folder for the results")->required();
    command->footer(
        "Interrupted, the same command goes on where it stopped. Run again on a complete folder, "
        "it\n"
        "fits and reports anew without measuring.");
    command->callback([arguments] { characterize(*arguments); });
}

}  // namespace occupipe::cli
