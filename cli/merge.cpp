// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "core/files/files.h"
#include "fit/profile/fit_report.h"
#include "fit/profile/profile_merge.h"

namespace occupipe::cli {
namespace {

struct Arguments {
    std::vector<std::string> profiles;
    std::string output;
    bool force = false;
};

void run_merge(const Arguments& arguments) {
    std::vector<NamedProfile> profiles;
    for (const std::string& path : arguments.profiles) {
        const std::string text = read_text_file(path);
        profiles.push_back({path, content_hash(text), parse_profile(text, path)});
    }
    const GpuProfile merged = merge_profiles(profiles);
    write_text_file(arguments.output, format_profile(merged),
                    arguments.force ? Overwrite::yes : Overwrite::no);
    for (const InstructionTiming& t : merged.instructions)
        fmt::print("{}: λ {} per core, Λ {}; {}\n", t.name, format_estimate(merged.cpi_per_core(t)),
                   format_estimate(t.latency), t.note);
    fmt::print(stderr, "wrote {}\n", arguments.output);
}

}  // namespace

void add_merge(CLI::App& app) {
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand(
        "merge", "One profile from several machines of one model, with the spread between them");
    command->add_option("profiles", arguments->profiles, "PROFILE.yaml of each machine")
        ->required();
    command->add_option("-o,--output", arguments->output, "PROFILE.yaml to write")->required();
    command->add_flag("--force", arguments->force, "replace an existing file");
    command->callback([arguments] { run_merge(*arguments); });
}

}  // namespace occupipe::cli
