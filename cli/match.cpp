// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "analysis/shipped_files.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "core/error.h"
#include "core/files/files.h"
#include "match/execution_cost.h"
#include "match/workload.h"
#include "report/figures/match_figures.h"
#include "report/figures/plot_file.h"
#include "report/text/match_output.h"

namespace occupipe::cli {
namespace {

constexpr const char* about =
    "Input: characteristics of a sequential program (occupipe-workload/1) and profiles with a\n"
    "`match` section. Output: the time of its best parallel version on each device by AutoMatch\n"
    "(Helal et al. 2017), the best device, what bounds it there, and how to split the work.\n"
    "Without --profile the workload is described. docs/match.md has the formulas and limits.";

constexpr const char* examples =
    "occupipe match --workload stencil.workload.yaml\n"
    "occupipe match --workload stencil.workload.yaml --profile i5-2400 --profile tesla-k20x\n"
    "occupipe match --workload lud.workload.yaml --profile i5-2400 --profile tesla-k20x "
    "--model all --split --plot lud.html";

struct Request {
    std::string workload;
    std::vector<std::string> profiles;
    std::string model = "all";
    std::optional<std::int64_t> sync;
    bool json = false;
    bool csv = false;
    bool force = false;
    report::MatchOptions show;
    std::string plot;
};

std::vector<match::CostModel> models_of(const std::string& name) {
    if (name != "all") return {match::cost_model(name)};
    std::vector<match::CostModel> all;
    for (const match::CostModelName& one : match::cost_models()) all.push_back(one.model);
    return all;
}

void run_match(const Request& request) {
    const std::vector<match::CostModel> models = models_of(request.model);
    std::vector<NamedPath> inputs = {{"--workload", request.workload}};
    add_paths(inputs, "--profile", request.profiles);
    keep_apart(inputs, {{"--plot", request.plot}});
    report::check_plot_file(request.plot, request.force);
    match::Workload workload = match::read_workload(request.workload);
    if (request.sync) {
        workload.synchronisations = *request.sync;
        workload.synchronisations_from = "--sync";
    }
    std::vector<GpuProfile> devices;
    for (const std::string& path : request.profiles) {
        const std::filesystem::path file = analysis::shipped_profile(path);
        devices.push_back(read_profile(file));
        try {
            match::device_of(devices.back());
        } catch (const InputError& error) {
            throw InputError(fmt::format("{}: {}", file.string(), error.what()));
        }
        for (std::size_t i = 0; i + 1 < devices.size(); ++i)
            if (devices[i].device.name == devices.back().device.name)
                throw InputError(fmt::format("{}: a profile of {} is given already", file.string(),
                                             devices[i].device.name));
    }
    std::vector<report::MatchCell> cells;
    for (const GpuProfile& device : devices)
        for (const match::CostModel model : models) {
            report::MatchCell cell{
                .device = &device,
                .model = model,
                .cost = match::execution_cost(workload, match::device_of(device), model),
                .sensitivity = match::sensitivity(workload, device, model),
                .std_error = {}};
            cell.std_error = match::standard_error(cell.sensitivity);
            cells.push_back(std::move(cell));
        }
    if (request.json)
        fmt::print("{}\n", report::to_json(workload, cells, request.show).dump(2));
    else
        fmt::print("{}", request.csv ? report::to_csv(workload, cells)
                                     : report::to_text(workload, cells, request.show));
    if (request.plot.empty()) return;
    const plot::Picture profiles = report::workload_profiles(workload);
    report::PlotContent content{.title = "AutoMatch: " + workload.kernel, .image = profiles};
    if (!profiles.panels.empty()) content.page.push_back(profiles);
    if (const plot::Picture speed = report::match_performance(workload, cells);
        !speed.panels.empty()) {
        content.image = speed;
        content.page.push_back(speed);
    }
    if (content.page.empty()) throw InputError("--plot: there is nothing to draw");
    report::write_plot(request.plot, content, request.force);
}

}  // namespace

void add_match(CLI::App& app) {
    const auto request = std::make_shared<Request>();
    CLI::App* const command = app.add_subcommand(
        "match", "Which device for this program, from what it does and not how it is written");
    add_help_end(*command, {.text = about, .exit_codes = {}, .examples = examples});
    command
        ->add_option("--workload", request->workload,
                     "What is known of the program (YAML, occupipe-workload/1)")
        ->required()
        ->type_name("FILE");
    command
        ->add_option("--profile", request->profiles,
                     "Devices: files (YAML) or shipped names; may be given again")
        ->type_name("PROFILE")
        ->allow_extra_args(false);
    std::vector<std::string> names = {"all"};
    for (const match::CostModelName& one : match::cost_models()) names.emplace_back(one.name);
    command->add_option("--model", request->model, "How the cost is made")
        ->check(CLI::IsMember(names))
        ->capture_default_str()
        ->type_name("MODEL");
    command
        ->add_option("--sync", request->sync,
                     "Number of global synchronisations S, in place of the workload's")
        ->check(number_not_negative())
        ->type_name("N");
    command->add_flag("--split", request->show.split,
                      "Also split the work over all devices, inverse to their costs");
    command->add_flag("--sensitivity", request->show.sensitivity,
                      "Also how much each number of a device matters");
    auto* const json = command->add_flag("--json", request->json, "Print JSON");
    command->add_flag("--csv", request->csv, "Print CSV")->excludes(json);
    command->add_flag("--force", request->force, "Replace files that exist");
    add_plot_option(*command, request->plot,
                    "rate and bounds by device as .svg or .png (without\nprofiles: parallelism and "
                    "reuse); all of it as .html");
    command->callback([request] { run_match(*request); });
}

}  // namespace occupipe::cli
