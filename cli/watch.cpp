// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "analysis/device/open_device.h"
#include "analysis/measured/fit.h"
#include "ask/shipped_files.h"
#include "cli/commands.h"
#include "cli/measure_device.h"
#include "cli/options.h"
#include "cli/reported.h"
#include "core/error.h"
#include "core/files/files.h"
#include "fit/profile/profile_watch.h"

namespace occupipe::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Arguments : DeviceRun {
    std::string baseline;
    std::filesystem::path folder;
    WatchOptions options;
    bool quick = false;
    bool thorough = false;
    bool other_device = false;
    bool json = false;
    bool everything = false;
};

// What the baseline knows and the device offers, as --instructions takes it.
std::string rows_of(const GpuProfile& baseline, const bench::Backend& backend) {
    std::set<std::string> known;
    for (const InstructionTiming& timing : baseline.instructions) known.insert(timing.name);
    for (const MemoryLevel& level : baseline.memory_levels) known.insert(level.instruction);
    std::vector<std::string> names;
    for (const bench::Row& row : backend.rows())
        if (known.contains(std::string(row.id)) && !backend.unsupported(row))
            names.emplace_back(row.id);
    if (names.empty())
        throw NothingToRunOn(
            fmt::format("{} measures no instruction of the baseline", backend.facts().id));
    return fmt::format("{}", fmt::join(names, ","));
}

void require_same_device(const std::string& baseline, const GpuProfile& profile,
                         const std::string& device) {
    constexpr std::string_view model = " (model)";
    const auto plain = [&](std::string name) {
        if (name.ends_with(model)) name.resize(name.size() - model.size());
        return name;
    };
    if (plain(device) == plain(profile.device.name)) return;
    throw InputError(
        fmt::format("{}: is of {}, and this is {}; --other-device compares nevertheless", baseline,
                    profile.device.name, device));
}

Json estimate_json(const Estimate& estimate) {
    Json out = {{"value", estimate.value}};
    if (estimate.std_error) out["std_error"] = *estimate.std_error;
    return out;
}

std::string json_text(const WatchReport& report, const Arguments& arguments,
                      const std::string& device) {
    Json numbers = Json::array();
    for (const Watched& one : report.compared) {
        Json entry = {{"name", one.name},
                      {"moved", one.moved},
                      {"baseline", estimate_json(one.baseline)},
                      {"now", estimate_json(one.now)},
                      {"relative", one.relative}};
        if (one.standard_errors) entry["standard_errors"] = *one.standard_errors;
        if (one.least_found > 0) entry["least_found"] = one.least_found;
        numbers.push_back(std::move(entry));
    }
    const Json whole = {{"format", "occupipe-watch/1"},
                        {"baseline", arguments.baseline},
                        {"device", device},
                        {"moved", report.moved()},
                        {"false_alarm_rate", report.false_alarm_rate},
                        {"needed_standard_errors", report.needed_standard_errors},
                        {"needed_relative", report.relative},
                        {"numbers", std::move(numbers)},
                        {"not_compared", report.not_compared},
                        {"disturbances", report.disturbances},
                        {"circumstances", report.circumstances}};
    return whole.dump(2) + "\n";
}

void watch(Arguments& arguments) {
    const std::filesystem::path path = analysis::shipped_profile(arguments.baseline);
    const std::filesystem::path& folder = arguments.folder;
    const auto measurements = folder / "measurements.json";
    std::vector<NamedPath> outputs;
    for (const char* name : {"measurements.json", "profile.yaml", "report.txt", "report.json"})
        outputs.push_back({"--output", folder / name});
    outputs.push_back(receipts_output(arguments.request.receipts));
    std::vector<NamedPath> inputs = device_inputs(arguments.device, arguments.kernels);
    inputs.push_back({"BASELINE", path});
    keep_apart(inputs, outputs);
    const GpuProfile baseline = analysis::named_profile(arguments.baseline);
    const auto backend = analysis::open_named_device(arguments.device, arguments.kernels);
    if (!arguments.other_device && !backend->facts().cpu)
        require_same_device(arguments.baseline, baseline, backend->facts().name);
    std::filesystem::create_directories(folder);
    if (std::filesystem::exists(measurements) && !arguments.force) {
        fmt::print(stderr, "{} is complete and is not measured again (--force measures again)\n",
                   measurements.string());
    } else {
        MeasureRequest& request = arguments.request;
        if (request.instructions.empty()) request.instructions = rows_of(baseline, *backend);
        request.quick = !arguments.thorough;
        request.output = measurements;
        request.overwrite = Overwrite::yes;
        if (!measure_device(*backend, request)) throw std::runtime_error("interrupted");
    }
    const std::array files = {read_measurements(measurements)};
    require_measured_on(files.front(), backend->facts());
    const FitOutcome fitted = analysis::fit(files);
    write_text_file(folder / "profile.yaml", format_profile(fitted.profile), Overwrite::yes);
    const WatchReport report = watch_profile(baseline, fitted.profile, files, arguments.options);
    const std::string& device = fitted.profile.device.name;
    const std::string json = json_text(report, arguments, device);
    write_text_file(folder / "report.json", json, Overwrite::yes);
    write_text_file(folder / "report.txt", format_watch(report, arguments.baseline, device, true),
                    Overwrite::yes);
    fmt::print("{}", arguments.json
                         ? json
                         : format_watch(report, arguments.baseline, device, arguments.everything));
    if (report.moved() > 0) throw Reported{exit_moved};
    if (std::ranges::none_of(report.compared,
                             [](const Watched& one) { return one.standard_errors.has_value(); }))
        throw std::runtime_error(
            "no measured number could be compared, so that this says nothing of λ and Λ (--all "
            "lists why): the baseline has to be a profile that 'characterize' made of this device");
}

}  // namespace

void add_watch(const Command& app) {
    auto arguments = std::make_shared<Arguments>();
    const Command command =
        app.subcommand("watch", "Check a device against its stored profile: did a number move?");
    command
        .add_option("baseline", arguments->baseline,
                    "The stored profile, made by 'characterize --quick' on this device")
        .required()
        .type_name("BASELINE");
    add_device_options(command, *arguments, "Measure again even if the folder has results");
    command
        .add_option("--instructions", arguments->request.instructions,
                    "As for measure (default: what the baseline has and the device supports)")
        .check(instruction_list())
        .type_name("LIST");
    const Option quick = command.add_flag("--quick", arguments->quick,
                                          "Fewer launch shapes and repetitions (default)");
    command.add_flag("--thorough", arguments->thorough, "All of them, for a baseline made that way")
        .excludes(quick);
    command.add_option("-o,--output", arguments->folder, "Folder for measurements and report")
        .required()
        .type_name("FOLDER");
    constexpr double most_rate = 0.5;
    command
        .add_option("--tolerance false_alarms|--false-alarms", arguments->options.false_alarm_rate,
                    "Share of reports of an unchanged device that may call any number moved")
        .show_default()
        .check(number_between(1e-6, most_rate))
        .type_name("SHARE");
    command
        .add_option("--tolerance relative|--relative", arguments->options.relative,
                    "Relative change that a number must exceed as well")
        .show_default()
        .check(number_not_negative());
    command.add_flag("--other-device", arguments->other_device,
                     "Compare although the device's name is not the baseline's");
    command.add_flag("--all", arguments->everything,
                     "Also print what did not move and what was not compared");
    command.add_flag("--json", arguments->json, "Print JSON");
    add_help_end(
        command,
        {.text =
             "Input: a profile and its device. Output: the report on stdout; in FOLDER "
             "measurements.json,\n"
             "profile.yaml, report.txt and report.json. Exit code 0: nothing moved; 6: a number "
             "moved by\n"
             "more than both errors allow, judged together over all numbers. "
             "docs/how-to/watch-device.md has "
             "the rates\n"
             "of false alarms and a nightly job.",
         .exit_codes = {exit_nothing_to_run_on, exit_device_lost, exit_moved},
         .examples = "occupipe check --watch golden.yaml --device cuda:0 -o tonight\n"
                     "occupipe characterize --quick -o golden \\\n"
                     "    --device 'model:profiles/nvidia-gtx-1060.yaml?noise=0.01&seed=1'\n"
                     "occupipe check --watch golden/profile.yaml --json -o tonight \\\n"
                     "    --device 'model:profiles/nvidia-gtx-1060.yaml?noise=0.01&seed=2'"});
    command.callback([arguments] { watch(*arguments); });
}

}  // namespace occupipe::cli
