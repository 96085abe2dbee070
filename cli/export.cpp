// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "analysis/exchange/exported.h"
#include "analysis/shipped_files.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "core/files/files.h"

namespace occupipe::cli {
namespace {

struct Arguments {
    std::string format;
    std::string profile;
    std::filesystem::path output;
    analysis::ExportOptions options;
    bool force = false;
};

analysis::Exported exported(const std::string& format, const GpuProfile& profile,
                            const analysis::ExportOptions& options) {
    if (format == "accelsim") return analysis::export_accelsim(profile, options);
    if (format == "ppt-gpu") return analysis::export_ppt_gpu(profile, options);
    if (format == "gem5") return analysis::export_gem5(profile, options);
    if (format == "osaca") return analysis::export_osaca(profile, options);
    return analysis::export_osaca_csv(profile, options);
}

void run_export(Arguments& arguments) {
    const std::filesystem::path path = analysis::shipped_profile(arguments.profile);
    keep_apart({{"PROFILE", path}}, {{"--output", arguments.output}});
    const GpuProfile profile = read_profile(path);
    arguments.options.profile_name = path.filename().string();
    const analysis::Exported file = exported(arguments.format, profile, arguments.options);
    if (arguments.output.empty())
        fmt::print("{}", file.text);
    else
        write_text_file(arguments.output, file.text,
                        arguments.force ? Overwrite::yes : Overwrite::no);
    for (const std::string& note : file.notes) fmt::print(stderr, "{}\n", note);
}

}  // namespace

void add_export(CLI::App& app) {
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand("export", "Write a profile in another tool's format");
    command
        ->add_option("format", arguments->format,
                     "accelsim (Accel-Sim, GPGPU-Sim), ppt-gpu, gem5, osaca (YAML) or osaca-csv")
        ->required()
        ->check(CLI::IsMember({"accelsim", "ppt-gpu", "gem5", "osaca", "osaca-csv"}))
        ->type_name("FORMAT");
    command->add_option("profile", arguments->profile, "GPU profile: a file or a shipped name")
        ->required()
        ->type_name("PROFILE");
    command->add_option("-o,--output", arguments->output, "File to write (default: stdout)")
        ->type_name("FILE");
    constexpr int most_units = 64;
    command
        ->add_option("--units", arguments->options.units,
                     "accelsim: execution units of each class on a core (default: as many as the\n"
                     "profile's subsystem has copies, else as few as λ needs)")
        ->check(CLI::Range(1, most_units))
        ->type_name("N");
    constexpr double most_cycles = 100;
    command
        ->add_option(
            "--pipeline-cycles", arguments->options.pipeline_cycles,
            "accelsim: cycles to take off Λ, since the simulator's operand collection and\n"
            "write-back add them (default 0, as its own tuner does)")
        ->check(number_between(0, most_cycles))
        ->type_name("CYCLES");
    command->add_flag("--force", arguments->force, "Replace an existing file");
    add_help_end(
        *command,
        {.text =
             "Input: a profile. Output: a file in the other tool's format, on stdout or in FILE; "
             "on\n"
             "stderr what that format cannot say and what was left out, which also stands in the "
             "file\n"
             "where it takes comments. What the profile does not have, or has only as a bound, "
             "gets no\n"
             "line. docs/other-tools.md says how each number is converted and why.",
         .exit_codes = {},
         .examples = "occupipe export accelsim rtx-2070 --units 4 -o rtx2070.config\n"
                     "occupipe export osaca-csv profiles/nvidia-gtx-1060.yaml"});
    command->callback([arguments] { run_export(*arguments); });
}

}  // namespace occupipe::cli
