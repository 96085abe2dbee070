// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "analysis/exchange/exported.h"
#include "ask/shipped_files.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "core/error.h"
#include "core/files/files.h"

namespace occupipe::cli {
namespace {

struct Arguments {
    std::string format;
    std::string profile;
    std::filesystem::path output;
    std::string units;
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

// "4", or "sp=4,dp=1".
void take_units(const std::string& text, analysis::ExportOptions& options) {
    constexpr int most_units = 64;
    static constexpr std::array<std::string_view, 5> classes = {"int", "sp", "dp", "sfu", "tensor"};
    const auto refuse = [&](std::string_view part, const std::string& why) {
        throw InputError(fmt::format("--given units: '{}' {}", part, why));
    };
    const auto count = [&](std::string_view part, std::string_view digits) {
        int value = 0;
        const char* const last = digits.data() + digits.size();
        const auto [end, error] = std::from_chars(digits.data(), last, value);
        if (error != std::errc() || end != last || value < 1 || value > most_units)
            refuse(part, fmt::format("is not a count from 1 to {}", most_units));
        return value;
    };
    if (text.find('=') == std::string::npos) {
        options.units = count(text, text);
        return;
    }
    for (std::string_view rest = text;;) {
        const std::size_t comma = rest.find(',');
        const std::string_view part = rest.substr(0, comma);
        const std::size_t equals = part.find('=');
        const std::string_view name = part.substr(0, equals);
        if (equals == std::string_view::npos || std::ranges::find(classes, name) == classes.end())
            refuse(part, fmt::format("is not CLASS=N with one of the classes {}",
                                     fmt::join(classes, ", ")));
        if (!options.units_of.emplace(name, count(part, part.substr(equals + 1))).second)
            refuse(part, "names a class again");
        if (comma == std::string_view::npos) return;
        rest.remove_prefix(comma + 1);
    }
}

void run_export(Arguments& arguments) {
    if (!arguments.units.empty()) take_units(arguments.units, arguments.options);
    const std::filesystem::path path = analysis::shipped_profile(arguments.profile);
    keep_apart({{"PROFILE", path}}, {{"--output", arguments.output}});
    const GpuProfile profile = analysis::named_profile(arguments.profile);
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

void add_export(const Command& app) {
    auto arguments = std::make_shared<Arguments>();
    const Command command = app.subcommand("export", "Write a profile in another tool's format");
    command
        .add_option("format", arguments->format,
                    "accelsim (Accel-Sim, GPGPU-Sim), ppt-gpu, gem5, osaca (YAML) or osaca-csv")
        .required()
        .check(one_of({"accelsim", "ppt-gpu", "gem5", "osaca", "osaca-csv"}))
        .type_name("FORMAT");
    command.add_option("profile", arguments->profile, "GPU profile: a file or a shipped name")
        .required()
        .type_name("PROFILE");
    command.add_option("-o,--output", arguments->output, "File to write (default: stdout)")
        .type_name("FILE");
    command
        .add_option(
            "--given units|--units", arguments->units,
            "accelsim: execution units of each class on a core, or of the classes int, sp,\n"
            "dp, sfu, tensor that are named (default: as many as the profile's subsystem\n"
            "has copies, else as few as λ needs)")
        .type_name("N|CLASS=N,...");
    constexpr double most_cycles = 100;
    command
        .add_option("--given pipeline_cycles|--pipeline-cycles", arguments->options.pipeline_cycles,
                    "accelsim: cycles to take off Λ, since the simulator's operand collection and\n"
                    "write-back add them (default 0, as its own tuner does)")
        .check(number_between(0, most_cycles))
        .type_name("CYCLES");
    command.add_flag("--force", arguments->force, "Replace an existing file");
    add_help_end(
        command,
        {.text =
             "Input: a profile. Output: a file in the other tool's format, on stdout or in FILE; "
             "on\n"
             "stderr what that format cannot say and what was left out, which also stands in the "
             "file\n"
             "where it takes comments. What the profile does not have, or has only as a bound, "
             "gets no\n"
             "line. docs/how-to/convert-profiles.md says how each number is converted and why.",
         .exit_codes = {},
         .examples =
             "occupipe convert --to accelsim rtx-2070 --given units=int=4,sp=4 -o rtx2070.config\n"
             "occupipe convert --to osaca-csv profiles/nvidia-gtx-1060.yaml"});
    command.callback([arguments] { run_export(*arguments); });
}

}  // namespace occupipe::cli
