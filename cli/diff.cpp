// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "analysis/shipped_files.h"
#include "cli/commands.h"
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
    const auto diffs =
        diff_profiles(read_profile(analysis::shipped_profile(arguments.first)),
                      read_profile(analysis::shipped_profile(arguments.second)), arguments.options);
    fmt::print("{}", format_diff(diffs, arguments.everything));
    for (const std::string& condition : arguments.fail_on)
        if (std::any_of(diffs.begin(), diffs.end(),
                        [&](const ParameterDiff& d) { return fails(d.verdict, condition); }))
            throw Reported{1};
}

}  // namespace

void add_diff(CLI::App& app) {
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command =
        app.add_subcommand("diff", "Which parameters of two profiles differ by more than errors");
    command->add_option("first", arguments->first, "PROFILE.yaml, the reference")->required();
    command->add_option("second", arguments->second, "PROFILE.yaml to judge")->required();
    command
        ->add_option("--sigma", arguments->options.standard_errors,
                     "standard errors that a difference must exceed")
        ->capture_default_str()
        ->check(CLI::PositiveNumber);
    command
        ->add_option("--relative", arguments->options.relative,
                     "relative difference that it must exceed, too")
        ->capture_default_str()
        ->check(CLI::NonNegativeNumber);
    command->add_flag("--all", arguments->everything, "print what is the same, too");
    command
        ->add_option("--fail-on", arguments->fail_on,
                     "exit with 1 on: difference, slower (λ, Λ or another number larger in the\n"
                     "second), missing (in the second); several with commas")
        ->delimiter(',')
        ->check(CLI::IsMember({"difference", "slower", "missing"}));
    command->footer(
        "For an acceptance test: occupipe diff golden.yaml node17.yaml --fail-on slower,missing");
    command->callback([arguments] { run_diff(*arguments); });
}

}  // namespace occupipe::cli
