// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "ask/shipped_files.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "core/files/files.h"
#include "fit/profile/fit_report.h"
#include "fit/profile/profile_complete.h"
#include "fit/profile/profile_merge.h"

namespace occupipe::cli {
namespace {

struct Arguments {
    std::vector<std::string> profiles;
    std::string output;
    bool force = false;
};

// What was measured, with what was published of the rest.
void complete(const Arguments& arguments, const std::vector<NamedProfile>& measured,
              const NamedProfile& published) {
    const GpuProfile own =
        measured.size() == 1 ? measured.front().profile : merge_profiles(measured).profile;
    const CompletedProfile result = complete_profile(own, published.profile);
    write_text_file(arguments.output, format_profile(result.profile),
                    arguments.force ? Overwrite::yes : Overwrite::no);
    fmt::print("measured: {}\n", fmt::join(result.measured, ", "));
    fmt::print("published ({}): {}\n", published.path, fmt::join(result.published, ", "));
    fmt::print(stderr, "wrote {}\n", arguments.output);
}

void run_merge(const Arguments& arguments) {
    std::vector<NamedPath> inputs;
    add_paths(inputs, "PROFILE", arguments.profiles);
    keep_apart(inputs, {{"--output", arguments.output}});
    std::vector<NamedProfile> profiles;
    for (const std::string& path : arguments.profiles)
        profiles.push_back({path, content_hash(analysis::named_profile_text(path)),
                            analysis::named_profile(path)});
    const auto published = std::ranges::stable_partition(
        profiles, [](const NamedProfile& one) { return !is_published(one.profile); });
    if (published.size() == 1 && profiles.size() > 1)
        return complete(arguments, {profiles.begin(), published.begin()}, published.front());
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
             "λ, Λ and the spread of each instruction on stdout. With one profile of which nothing "
             "was\n"
             "measured (a shelf's, such as a100): what the others measured stays, the rest is its.",
         .exit_codes = {},
         .examples = "occupipe fit --merge node1.yaml node2.yaml node3.yaml -o model.yaml\n"
                     "occupipe fit --merge quick.yaml a100 -o a100-here.yaml"});
    command.callback([arguments] { run_merge(*arguments); });
}

}  // namespace occupipe::cli
