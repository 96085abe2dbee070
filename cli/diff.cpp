// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "ask/shipped_files.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/reported.h"
#include "core/files/files.h"
#include "fit/profile/profile_diff.h"

namespace occupipe::cli {
namespace {

struct Arguments {
    std::string first;
    std::string second;
    DiffOptions options;
    bool everything = false;
    std::vector<std::string> fail_on;
};

bool fails(DiffVerdict verdict, const std::string& condition) {
    const bool larger = verdict == DiffVerdict::larger;
    if (condition == "slower") return larger;
    if (condition == "difference")
        return larger || verdict == DiffVerdict::smaller || verdict == DiffVerdict::different;
    return verdict == DiffVerdict::only_first;  // missing
}

void run_diff(const Arguments& arguments) {
    const auto diffs = diff_profiles(analysis::named_profile(arguments.first),
                                     analysis::named_profile(arguments.second), arguments.options);
    fmt::print("{}", format_diff(diffs, arguments.everything));
    for (const std::string& condition : arguments.fail_on)
        if (std::any_of(diffs.begin(), diffs.end(),
                        [&](const ParameterDiff& d) { return fails(d.verdict, condition); }))
            throw Reported{1};
}

}  // namespace

void add_diff(const Command& app) {
    auto arguments = std::make_shared<Arguments>();
    const Command command = app.subcommand(
        "diff", "Show which parameters of two profiles differ by more than their errors");
    command.add_option("first", arguments->first, "Profile to compare with")
        .required()
        .type_name("PROFILE");
    command.add_option("second", arguments->second, "Profile to judge")
        .required()
        .type_name("PROFILE");
    command
        .add_option("--tolerance sigma|--sigma", arguments->options.standard_errors,
                    "Standard errors that a difference must exceed")
        .show_default()
        .check(positive_number());
    command
        .add_option("--tolerance relative|--relative", arguments->options.relative,
                    "Relative difference that it must exceed as well")
        .show_default()
        .check(number_not_negative());
    command.add_flag("--all", arguments->everything, "Also print what does not differ");
    command
        .add_option(
            "--fail-on", arguments->fail_on,
            "Exit with 1 on any of, separated by commas: difference, slower (λ, Λ or another\n"
            "number larger in the second), missing (from the second)")
        .delimiter(',')
        .check(one_of({"difference", "slower", "missing"}));
    add_help_end(command,
                 {.text = "Input: two profiles (YAML). Output: a table of differences on stdout.\n"
                          "With --fail-on it serves as an acceptance test of a machine.",
                  .exit_codes = {},
                  .examples = "occupipe compare profiles/nvidia-gtx-1060.yaml "
                              "profiles/nvidia-rtx-2070.yaml\n"
                              "occupipe compare golden.yaml node17.yaml --fail-on slower,missing"});
    command.callback([arguments] { run_diff(*arguments); });
}

}  // namespace occupipe::cli
