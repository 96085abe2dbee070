// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "analysis/roofline/device_rates.h"
#include "ask/shipped_files.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "core/files/files.h"
#include "report/text/text_table.h"

namespace occupipe::cli {
namespace {

using Json = nlohmann::ordered_json;

// An assumed λ says so.
std::string origin(const GpuProfile& profile, const std::string& instruction) {
    const InstructionTiming* const timing = profile.find_instruction(instruction);
    const bool assumed = timing != nullptr && timing->source == Source::assumed;
    return instruction + (assumed ? " (assumed)" : "");
}

void print_rates(const std::vector<std::string>& paths, bool json) {
    Json all = Json::array();
    for (const std::string& path : paths) {
        const GpuProfile profile = analysis::named_profile(path);
        report::TextTable table{{"rate", "by λ", "at full occupancy", "unit", "from", "what it is"},
                                {report::Align::left, report::Align::right, report::Align::right,
                                 report::Align::left, report::Align::left, report::Align::left},
                                {}};
        Json list = Json::array();
        for (const analysis::Rate& rate : analysis::rates()) {
            const auto found = analysis::value_of(rate, profile);
            const std::string text =
                found ? estimate_text({.value = found->value, .std_error = found->std_error})
                      : "not measured";
            const auto full = analysis::full_value_of(rate, profile);
            const std::string full_text =
                full ? estimate_text({.value = full->value, .std_error = full->std_error}) : "-";
            table.rows.push_back(
                {std::string(rate.symbol), text, full_text, found ? std::string(rate.unit) : "",
                 found ? origin(profile, found->from) : "", std::string(rate.meaning)});
            Json one = {{"symbol", rate.symbol}, {"meaning", rate.meaning}};
            if (found) {
                one["value"] = found->value;
                one["unit"] = rate.unit;
                one["instruction"] = found->from;
                if (found->std_error) one["std_error"] = *found->std_error;
            }
            if (full) {
                one["at_full_occupancy"] = full->value;
                if (full->std_error) one["at_full_occupancy_std_error"] = *full->std_error;
            }
            list.push_back(one);
        }
        const auto warnings = analysis::rate_warnings(profile);
        for (const std::string& warning : warnings)
            fmt::print(stderr, "occupipe: warning: {}: {}\n", path, warning);
        all.push_back({{"profile", path},
                       {"device", profile.device.name},
                       {"rates", list},
                       {"warnings", warnings}});
        if (!json)
            fmt::print("{} ({})\n\n{}\n", profile.device.name, path, report::plain_text(table));
    }
    if (json) fmt::print("{}\n", all.dump(2));
}

}  // namespace

void add_rates(const Command& app) {
    struct Arguments {
        std::vector<std::string> profiles;
        bool json = false;
    };
    const auto arguments = std::make_shared<Arguments>();
    const Command command = app.subcommand(
        "rates", "Print the rates that other models ask for (T_SP … B_mem, α, β), from a profile");
    command.add_option("profiles", arguments->profiles, "GPU profiles: files or shipped names")
        .required()
        .type_name("PROFILE");
    command.add_flag("--json", arguments->json, "Print JSON");
    add_help_end(
        command,
        {.text =
             "Output: a table per profile on stdout, or JSON. Rates are those of the whole device "
             "at the\n"
             "profile's clock: lanes x operations (or bytes) / λ. What the profile lacks or does "
             "not\n"
             "determine is 'not measured'.",
         .exit_codes = {},
         .examples = "occupipe table --rates rtx-2070"});
    command.callback([arguments] { print_rates(arguments->profiles, arguments->json); });
}

}  // namespace occupipe::cli
