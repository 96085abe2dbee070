// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "ask/shipped_files.h"
#include "automatch/cli/commands.h"
#include "automatch/execution_cost.h"
#include "automatch/program.h"
#include "automatch/report/match_figures.h"
#include "automatch/report/match_output.h"
#include "automatch/workload.h"
#include "cli/console.h"
#include "cli/options.h"
#include "core/error.h"
#include "core/files/files.h"
#include "report/figures/plot_file.h"

namespace occupipe::automatch {
namespace {

constexpr const char* about =
    "Input: a sequential program, or what was counted of it (occupipe-workload/1), and profiles\n"
    "with a `match` section. The program is compiled with counters in one function (LLVM 19) and\n"
    "run. Output: the time of its best parallel version on each device by AutoMatch (Helal et al.\n"
    "2017), the best device, what bounds it there, and how to split the work.\n"
    "Without --profile the workload is described. docs/background/automatch.md has the formulas "
    "and limits.";

constexpr const char* examples =
    "automatch predict jacobi.c --kernel jacobi -o jacobi.workload.yaml -- 1000 100\n"
    "automatch predict --workload stencil.workload.yaml\n"
    "automatch predict --workload stencil.workload.yaml --profile i5-2400 --profile tesla-k20x\n"
    "automatch predict --workload lud.workload.yaml --profile i5-2400 --profile tesla-k20x "
    "--model all --split --plot lud.html";

struct Request {
    ProgramRun program;
    std::string source;
    std::vector<std::string> more_sources;
    bool without_distances = false;
    std::string order = "true";
    std::string output;
    std::string workload;
    std::vector<std::string> profiles;
    std::string model = "all";
    std::optional<std::int64_t> sync;
    bool json = false;
    bool csv = false;
    bool force = false;
    MatchOptions show;
    std::string plot;
};

std::vector<CostModel> models_of(const std::string& name) {
    if (name != "all") return {cost_model(name)};
    std::vector<CostModel> all;
    for (const CostModelName& one : cost_models()) all.push_back(one.model);
    return all;
}

// From a file, or from a run with counters.
Workload workload_of(const Request& request, const std::vector<GpuProfile>& devices) {
    Workload workload;
    if (!request.workload.empty()) {
        workload = read_workload(request.workload);
    } else {
        ProgramRun run = request.program;
        run.sources = {request.source};
        run.sources.insert(run.sources.end(), request.more_sources.begin(),
                           request.more_sources.end());
        run.distances = !request.without_distances;
        run.order_memory = request.order == "memory";
        for (const GpuProfile& device : devices)
            for (const std::int64_t unit : {8, 64, 128})
                if (device.match.fast_bytes)
                    run.capacities.push_back(*device.match.fast_bytes / unit);
        const cli::StopOnSignal keep_on;  // the program gets the signal, too, and says what it has
        workload = analyse_program(
            run, [](const std::string& step) { fmt::print(stderr, "automatch: {}\n", step); });
    }
    if (request.sync) {
        workload.synchronisations = request.sync;
        workload.synchronisations_from = "--sync";
    }
    if (!request.output.empty())
        write_text_file(request.output, format_workload(workload),
                        request.force ? Overwrite::yes : Overwrite::no);
    return workload;
}

// Before anything is counted, which may take minutes.
void require_writable(const std::filesystem::path& path, bool force) {
    if (path.empty()) return;
    const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
    std::error_code none;
    if (!force && std::filesystem::exists(path, none))
        throw InputError(fmt::format("{}: exists already; --force replaces it", path.string()));
    if (!std::filesystem::is_directory(folder, none) || access(folder.c_str(), W_OK | X_OK) != 0)
        throw InputError(
            fmt::format("{}: cannot be written, since {} is no folder that one may "
                        "write to",
                        path.string(), folder.string()));
}

void run_predict(const Request& request) {
    const std::vector<CostModel> models = models_of(request.model);
    if (request.source.empty() && request.workload.empty())
        throw InputError("give a program, or --workload FILE; see --help");
    if (!request.source.empty() && !request.workload.empty())
        throw InputError(
            fmt::format("both a program ({}) and --workload {} are given; a workload is what was "
                        "counted of a program before",
                        request.source, request.workload));
    if (!request.source.empty() && request.program.kernel.empty())
        throw InputError("--kernel NAME is missing: the function to be counted");
    std::vector<cli::NamedPath> inputs = {{"--workload", request.workload},
                                          {"PROGRAM", request.source}};
    cli::add_paths(inputs, "--with", request.more_sources);
    cli::add_paths(inputs, "--profile", request.profiles);
    cli::keep_apart(inputs, {{"--plot", request.plot}, {"-o", request.output}});
    report::check_plot_file(request.plot, request.force);
    require_writable(request.plot, request.force);
    require_writable(request.output, request.force);
    for (const auto& [option, given] :
         {std::pair{"--split", request.show.split}, {"--sensitivity", request.show.sensitivity}})
        if (given && request.profiles.empty())
            throw InputError(fmt::format("{}: of devices; name some with --profile", option));
    std::vector<GpuProfile> devices;
    for (const std::string& path : request.profiles) {
        const std::filesystem::path file = analysis::shipped_profile(path);
        devices.push_back(analysis::named_profile(path));
        if (analysis::lend_match(devices.back()))
            fmt::print(stderr,
                       "automatch: note: the profile of {} has no 'match' section: the published "
                       "numbers of the shelf are taken\n",
                       devices.back().device.name);
        try {
            device_of(devices.back());
        } catch (const InputError& error) {
            throw InputError(fmt::format("{}: {}", file.string(), error.what()));
        }
        for (std::size_t i = 0; i + 1 < devices.size(); ++i)
            if (devices[i].device.name == devices.back().device.name)
                throw InputError(fmt::format("{}: a profile of {} is given already", file.string(),
                                             devices[i].device.name));
    }
    const Workload workload = workload_of(request, devices);
    std::vector<MatchCell> cells;
    for (const GpuProfile& device : devices)
        for (const CostModel model : models) {
            MatchCell cell{.device = &device,
                           .model = model,
                           .cost = execution_cost(workload, device_of(device), model),
                           .sensitivity = sensitivity(workload, device, model),
                           .std_error = {}};
            cell.std_error = standard_error(cell.sensitivity);
            cells.push_back(std::move(cell));
        }
    if (request.json)
        fmt::print("{}\n", to_json(workload, cells, request.show).dump(2));
    else
        fmt::print("{}",
                   request.csv ? to_csv(workload, cells) : to_text(workload, cells, request.show));
    if (request.plot.empty()) return;
    const plot::Picture profiles = workload_profiles(workload);
    report::PlotContent content{.title = "AutoMatch: " + workload.kernel, .image = profiles};
    if (!profiles.panels.empty()) content.page.push_back(profiles);
    if (const plot::Picture speed = match_performance(workload, cells); !speed.panels.empty()) {
        content.image = speed;
        content.page.push_back(speed);
    }
    if (content.page.empty()) throw InputError("--plot: there is nothing to draw");
    report::write_plot(request.plot, content, request.force);
}

}  // namespace

void add_predict(const cli::Command& app) {
    const auto request = std::make_shared<Request>();
    const cli::Command command = app.subcommand(
        "predict", "Which device for this program, from what it does and not how it is written");
    cli::add_help_end(command, {.text = about, .exit_codes = {}, .examples = examples});
    command
        .add_option("program", request->source,
                    "Source (.c, .cc, .cpp, .cxx) or LLVM's code (.ll, .bc) with a main()")
        .type_name("PROGRAM");
    const cli::Option workload =
        command
            .add_option("--workload", request->workload,
                        "In place of PROGRAM: what was counted of it (YAML, occupipe-workload/1)")
            .type_name("FILE");
    command.add_option("arguments", request->program.arguments, "The program's own, after --")
        .excludes(workload)
        .type_name("ARGS");
    command.add_option("--kernel", request->program.kernel, "The function to be counted")
        .excludes(workload)
        .type_name("NAME");
    command
        .add_option("--with", request->more_sources,
                    "A further source of the program; may be given again")
        .excludes(workload)
        .type_name("FILE")
        .one_value_each();
    command
        .add_option("--flag", request->program.flags,
                    "A flag of the compiler, as --flag=-Iinclude; may be given again")
        .excludes(workload)
        .type_name("FLAG")
        .one_value_each();
    command
        .add_option("--order", request->order,
                    "What an operation waits for: `true` dependences, or also what lay in\n"
                    "memory where a result goes (`memory`)")
        .check(cli::one_of({"true", "memory"}))
        .excludes(workload)
        .show_default()
        .type_name("ORDER");
    command
        .add_flag("--no-distances", request->without_distances,
                  "Count no stack distances: faster; costs then leave out the memory")
        .excludes(workload);
    command.add_option("-o,--output", request->output, "Write what was counted (YAML)")
        .type_name("FILE");
    command
        .add_option("--profile", request->profiles,
                    "Devices: files (YAML) or shipped names; may be given again")
        .type_name("PROFILE")
        .one_value_each();
    std::vector<std::string> names = {"all"};
    for (const CostModelName& one : cost_models()) names.emplace_back(one.name);
    command.add_option("--model", request->model, "How the cost is made")
        .check(cli::one_of(names))
        .show_default()
        .type_name("MODEL");
    command
        .add_option("--sync", request->sync,
                    "Number of global synchronisations S, in place of the workload's")
        .check(cli::number_between(0, 1e15))
        .type_name("N");
    command.add_flag("--split", request->show.split,
                     "Also split the work over all devices, inverse to their costs");
    command.add_flag("--sensitivity", request->show.sensitivity,
                     "Also how much each number of a device matters");
    const cli::Option json = command.add_flag("--json", request->json, "Print JSON");
    command.add_flag("--csv", request->csv, "Print CSV").excludes(json);
    command.add_flag("--force", request->force, "Replace files that exist");
    cli::add_plot_option(
        command, request->plot,
        "rate and bounds by device as .svg or .png (without\nprofiles: parallelism and "
        "reuse); all of it as .html");
    command.callback([request] { run_predict(*request); });
}

}  // namespace occupipe::automatch
