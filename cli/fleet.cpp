// SPDX-License-Identifier: MIT
#include "analysis/device/fleet.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ask/shipped_files.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/reported.h"
#include "core/files/files.h"
#include "report/text/fleet_text.h"

namespace occupipe::cli {
namespace {

struct Options {
    std::vector<std::string> profiles;
    analysis::FleetOptions fleet;
    bool json = false;
    bool fail = false;
};

void fleet(const Options& options) {
    std::vector<analysis::FleetMember> members;
    for (const std::string& name : options.profiles)
        members.push_back({name, analysis::named_profile(name)});
    const analysis::Fleet found = analysis::examine_fleet(members, options.fleet);
    if (options.json)
        fmt::print("{}\n", report::to_json(found, options.fleet).dump(2));
    else
        fmt::print("{}", report::to_text(found, options.fleet));
    for (const analysis::FleetModel& model : found.models)
        if (options.fail &&
            !(model.outliers.empty() && model.spreads.empty() && model.differences.empty()))
            throw Reported{exit_failed};
}

}  // namespace

void add_fleet(const Command& app) {
    const auto options = std::make_shared<Options>();
    const Command command = app.subcommand(
        "fleet", "Find GPUs whose λ, Λ or clock is not that of the others of their model");
    add_help_end(
        command,
        {.text =
             "Input: a profile (YAML) of each GPU; those of one device name are compared.\n"
             "Output: a table on stdout, or JSON: each outlier with its value, the median and the\n"
             "spread of its model, and by how much it exceeds what chance explains; and where the "
             "GPUs\ndiffer by far more than their errors without one that stands out "
             "(docs/how-to/compare-fleet.md).",
         .exit_codes = {},
         .examples =
             "occupipe compare --fleet out/*/profile.yaml\n"
             "occupipe compare --fleet out/*/profile.yaml --tolerance false_alarms=0.01 \\\n"
             "    --fail-on difference"});
    command.add_option("profiles", options->profiles, "Profile of each GPU (YAML)")
        .required()
        .type_name("PROFILE");
    command
        .add_option("--tolerance false_alarms|--false-alarms", options->fleet.false_alarms,
                    "Probability that a fleet without outliers is said to have one")
        .check(number_between(1e-12, 0.5))
        .show_default()
        .type_name("P");
    command
        .add_option("--tolerance relative|--relative", options->fleet.relative,
                    "Relative distance to the median that an outlier has to have as well")
        .check(number_not_negative())
        .show_default()
        .type_name("SHARE");
    command.add_flag("--json", options->json, "Print JSON");
    command.add_flag("--fail-on difference|--fail", options->fail,
                     "Exit with 1 where a GPU differs, or GPUs from one another");
    command.callback([options] { fleet(*options); });
}

}  // namespace occupipe::cli
