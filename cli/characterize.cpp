// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <filesystem>
#include <memory>
#include <stdexcept>

#include "analysis/open_device.h"
#include "cli/commands.h"
#include "cli/measure_device.h"
#include "core/files/files.h"
#include "fit/profile/build_profile.h"
#include "report/page/findings.h"
#include "report/text/accuracy_on_measurements.h"
#include "report/text/published_cores.h"
#include "report/text/published_gpus.h"
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

std::string summary(const MeasurementFile& file, const GpuProfile& profile,
                    const std::string& table, const std::string& check) {
    const auto fact = [&](const char* key) {
        const auto found = file.context.find(key);
        return found == file.context.end() ? std::string("not known") : found->second;
    };
    const bool model = fact("backend") == "model";
    std::string text = fmt::format("# {}\n\n", profile.device.name);
    if (model) text += "**These are the times of a model, not of hardware.**\n\n";
    text += fmt::format("- device: {}, {} ({})\n- driver: {}\n- cores: {}, warp size: {}\n",
                        fact("device"), fact("device_name"), fact("device_vendor"), fact("driver"),
                        profile.cores, profile.warp_size);
    text += fmt::format("- core clock: {:.4g} GHz ({})\n- measured: {}, occupipe {}\n\n",
                        profile.clock_hz * 1e-9, fact("clock_source"), fact("date"),
                        fact("occupipe_version"));
    if (fact("device_type") == "cpu") {
        text +=
            "This is a CPU seen through OpenCL: a warp is one work-item, and the hull shows over\n"
            "independent chains inside it. λ and Λ describe one core's units; nothing here says "
            "how\n"
            "a GPU, or many work-items, would behave.\n\n";
    }
    text += "## Instructions (λ / Λ in core cycles)\n\n" + table + "\n" +
            report::beside_published(file, profile) + report::beside_published_throughput(profile) +
            check;
    std::string skipped;
    for (const auto& [key, value] : file.context) {
        constexpr std::string_view prefix = "not_measured.";
        if (key.starts_with(prefix)) {
            skipped += fmt::format("- {}: {}\n", key.substr(prefix.size()), value);
        }
    }
    if (!skipped.empty()) text += "\n## Not measured\n\n" + skipped;
    return text;
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
    const std::string text = summary(files.front(), fitted.profile, table, check);
    std::vector<report::CheckedProfile> checked;
    checked.push_back({"profile.yaml", &fitted.profile,
                       analysis::self_check({.profile = fitted.profile, .measurements = files})});
    write_text_file(arguments.folder / "selfcheck.md",
                    report::findings_markdown(checked, analysis::built_in_published()),
                    Overwrite::yes);
    write_text_file(arguments.folder / "profile.yaml", format_profile(fitted.profile),
                    Overwrite::yes);
    write_text_file(arguments.folder / "table.md", table, Overwrite::yes);
    write_text_file(arguments.folder / "summary.md", text, Overwrite::yes);
    fmt::print("{}", text);
    fmt::print(
        stderr,
        "wrote measurements.json, profile.yaml, table.md, summary.md and selfcheck.md ({} serious) "
        "in {}\n",
        checked.front().check.serious(), arguments.folder.string());
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
