// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/options.h"
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
    std::vector<NamedPath> inputs;
    add_paths(inputs, "PROFILE", arguments.profiles);
    keep_apart(inputs, {{"--output", arguments.output}});
    std::vector<NamedProfile> profiles;
    for (const std::string& path : arguments.profiles) {
        const std::string text = read_text_file(path);
        profiles.push_back({path, content_hash(text), parse_profile(text, path)});
    }
    const MergedProfile result = merge_profiles(profiles);
    const GpuProfile& merged = result.profile;
    write_text_file(arguments.output, format_profile(merged),
                    arguments.force ? Overwrite::yes : Overwrite::no);
    for (const InstructionTiming& t : merged.instructions)
        fmt::print("{}: λ {} per core, Λ {}; {}\n", t.name, format_estimate(merged.cpi_per_core(t)),
                   t.latency ? format_estimate(*t.latency) : "not measured", t.note);
    for (const std::string& line : result.contradictions)
        fmt::print(stderr, "occupipe: warning: {}\n", line);
    fmt::print(stderr, "wrote {}\n", arguments.output);
}

}  // namespace

void add_merge(const Command& app) {
    auto arguments = std::make_shared<Arguments>();
    const Command command = app.subcommand(
        "merge", "Merge profiles of several machines of one model, with the spread between them");
    command.add_option("profiles", arguments->profiles, "Profile of each machine (YAML)")
        .required()
        .type_name("PROFILE");
    command.add_option("-o,--output", arguments->output, "PROFILE.yaml to write")
        .required()
        .type_name("PROFILE.yaml");
    command.add_flag("--force", arguments->force, "Replace an existing file");
    add_help_end(
        command,
        {.text =
             "Output: a profile (YAML) whose standard errors include the spread between machines;\n"
             "λ, Λ and the spread of each instruction on stdout.",
         .exit_codes = {},
         .examples = "occupipe fit --merge node1.yaml node2.yaml node3.yaml -o model.yaml"});
    command.callback([arguments] { run_merge(*arguments); });
}

}  // namespace occupipe::cli
