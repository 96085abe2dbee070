// SPDX-License-Identifier: MIT
#include <cstdio>
#include <map>
#include <memory>

#include "ask/shipped_files.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "core/files/files.h"
#include "report/text/backend_agreement.h"
#include "report/text/published_gpus.h"
#include "report/text/timing_table.h"

namespace occupipe::cli {
namespace {

void print_published(const std::vector<GpuProfile>& profiles) {
    for (const GpuProfile& profile : profiles) {
        const std::string text = report::beside_published_throughput(profile);
        if (text.empty()) {
            std::fprintf(
                stderr, "%s: no published throughput is known for its compute capability%s%s\n",
                profile.device.name.c_str(), profile.device.compute_capability.empty() ? "" : " ",
                profile.device.compute_capability.c_str());
        } else {
            std::printf("%s\n", text.c_str());
        }
    }
}

}  // namespace

void add_table(const Command& app) {
    struct Options {
        std::vector<std::string> profiles;
        std::string format = "md";
        bool errors = false;
        bool published = false;
    };
    const auto options = std::make_shared<Options>();
    const Command command =
        app.subcommand("table", "Print λ / Λ per instruction and GPU, in core cycles");
    command.add_option("profiles", options->profiles, "GPU profiles: files or shipped names")
        .required()
        .type_name("PROFILE");
    command.add_option("--format", options->format, "Output format (default: md)")
        .check(one_of({"md", "csv", "latex", "json"}))
        .type_name("FORMAT");
    command.add_flag("--errors", options->errors,
                     "Show standard errors in md and latex (csv and json always have them)");
    command
        .add_flag("--published", options->published,
                  "Print λ per core beside NVIDIA's published throughput instead, in Markdown")
        .excludes(command.option("--format"))
        .excludes(command.option("--errors"));
    add_help_end(
        command,
        {.text = "Output: a table on stdout, a column per profile. '-': not in the profile; "
                 "≤ and ≥: a bound.",
         .exit_codes = {},
         .examples = "occupipe table rtx-2070 gtx-1060 --format csv\n"
                     "occupipe table results/cpu-amd-zen4-pocl/profile-quick.yaml "
                     "--errors"});
    command.callback([options] {
        std::vector<GpuProfile> profiles;
        for (const std::string& path : options->profiles) {
            profiles.push_back(analysis::named_profile(path));
        }
        if (options->published) return print_published(profiles);
        static const std::map<std::string, report::TableFormat> formats = {
            {"md", report::TableFormat::markdown},
            {"csv", report::TableFormat::csv},
            {"latex", report::TableFormat::latex},
            {"json", report::TableFormat::json}};
        const std::string text = report::format_timing_table(
            report::timing_table(profiles), formats.at(options->format), options->errors);
        std::fputs(text.c_str(), stdout);
        const std::string agreement = report::backend_agreement(profiles);
        if (agreement.empty()) return;
        if (options->format == "md")
            std::printf("\n%s", agreement.c_str());
        else
            std::fputs(agreement.c_str(), stderr);
    });
}

}  // namespace occupipe::cli
