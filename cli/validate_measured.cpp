// SPDX-License-Identifier: MIT
#include "cli/validate_measured.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "analysis/tuning/configurations.h"
#include "ask/shipped_files.h"
#include "cli/options.h"
#include "cli/run_limit.h"
#include "core/error.h"
#include "core/files/files.h"
#include "report/figures/plot_file.h"
#include "report/text/held_against.h"

namespace occupipe::cli {

void add_measured_options(const Command& command, ValidateMeasured& options) {
    command
        .add_option(
            "--measured", options.measured,
            "Configurations that others measured, instead of a device: a T4 file, a Kernel\n"
            "Tuner cache, KTT's results, or a table (CSV); --launch names the tuner's input\n"
            "(T1), which says how they are launched")
        .type_name("FILE");
    command
        .add_option("--draws", options.draws,
                    "With --measured: so many of the configurations, one at random of each of as\n"
                    "many strata of the measured time (default: all)")
        .check(in_range(1, 1000000))
        .type_name("N");
    command.add_option("--seed", options.seed, "Of the draw (default: 1)").type_name("N");
    add_set_option(command, options.changes);
    command.add_flag("--json", options.json, "With --measured: scores and configurations as JSON");
}

void validate_measured(const ValidateMeasured& options, const ValidateMeasuredRequest& request) {
    if (request.spaces.size() != 1)
        throw InputError(
            "--measured: name the tuner's input (T1) of these configurations with one "
            "--launch SPACE.json");
    report::check_plot_file(request.plot, request.force);
    const std::filesystem::path folder = request.output;
    const std::filesystem::path table = folder / "configurations.csv",
                                of_all = folder / "scores.json";
    if (!request.output.empty() && !request.force)
        for (const std::filesystem::path& file : {table, of_all})
            if (std::filesystem::exists(file))
                throw InputError(fmt::format("{} exists; --force replaces it", file.string()));
    const GpuProfile profile = analysis::named_profile(request.profile);
    const analysis::TuningSpace space = analysis::read_tuning_space(request.spaces.front());
    analysis::MeasuredRuns runs = analysis::read_measured_runs(options.measured);
    keep_those_of(space, runs);
    for (const std::string& note : space.notes)
        fmt::print(stderr, "occupipe: note: {}: {}\n", space.file, note);
    for (const std::string& note : runs.notes)
        fmt::print(stderr, "occupipe: note: {}: {}\n", runs.file, note);
    const auto drawn = analysis::drawn_by_time(
        runs.runs, static_cast<std::size_t>(options.draws.value_or(0)), options.seed.value_or(1));
    if (drawn.empty())
        throw InputError(
            fmt::format("{}: no configuration of {} has a time in it", runs.file, space.file));

    RunLimit limit(request.limit);
    limit.expect(drawn.size());
    analysis::HeldOptions how;
    if (!request.models.empty()) how.models = request.models;
    how.changes = options.changes;
    how.memory.pricing = *analysis::memory_pricing(request.memory_pricing);
    ModelOptions limits;
    limit.apply(limits);
    how.max_simulated = limits.max_simulated;
    how.stop = [&] { return limit.over(); };
    how.done = [&](const analysis::PredictedConfiguration&) { limit.add_done(); };
    const analysis::HeldAgainst held = analysis::held_against(space, runs, drawn, profile, how);
    const bool any = std::ranges::any_of(
        held.rows, [](const auto& row) { return row.predicted.front().has_value(); });
    if (!any && held.stopped) limit.require_time();
    if (std::ranges::all_of(held.rows, [](const auto& row) { return !row.refusal.empty(); }))
        throw InputError(fmt::format("no configuration can be predicted; the first: {}",
                                     held.rows.front().refusal));
    const std::string json = report::to_json(held).dump(2) + "\n";
    if (options.json)
        fmt::print("{}", json);
    else
        fmt::print("{}", report::to_text(held));
    if (!request.output.empty()) {
        std::filesystem::create_directories(folder);
        const Overwrite overwrite = request.force ? Overwrite::yes : Overwrite::no;
        write_text_file(table, report::to_csv(held), overwrite);
        write_text_file(of_all, json, overwrite);
    }
    if (!request.plot.empty())
        report::write_plot(request.plot, report::held_against_plot(held), request.force);
    if (held.stopped) limit.require_time();
}

}  // namespace occupipe::cli
