// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "analysis/exchange/imported.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "core/error.h"
#include "core/files/document.h"
#include "core/files/files.h"

namespace occupipe::cli {
namespace {

struct Arguments {
    std::string format;
    std::vector<std::string> files;
    std::filesystem::path output;
    analysis::DeviceHints hints;
    bool force = false;
};

void run_import(const Arguments& arguments) {
    const analysis::ImportFormat& format = *analysis::find_import_format(arguments.format);
    if (arguments.files.size() > format.most_files)
        throw InputError(
            fmt::format("{} takes one file, not {}", arguments.format, arguments.files.size()));
    if (arguments.hints.device && !format.several_devices)
        throw InputError(
            fmt::format("--given device: a file of {} is of one device", arguments.format));
    std::vector<NamedPath> inputs;
    add_paths(inputs, "FILE", arguments.files);
    keep_apart(inputs, {{"--output", arguments.output}});
    if (!arguments.hints.name.empty()) require_text(arguments.hints.name, "--given name");
    std::vector<analysis::InputText> files;
    for (const std::string& file : arguments.files) files.push_back({file, read_text_file(file)});
    const analysis::Imported found = format.read(files, arguments.hints);
    const std::vector<std::string>& notes = std::visit(
        [](const auto& read) -> const auto& { return read.notes; }, found);
    std::string text;
    std::string what;
    if (const auto* measured = std::get_if<analysis::ImportedMeasurements>(&found)) {
        text = analysis::measurement_text(*measured, files.front(), arguments.format);
        what = fmt::format("a measurement file, {} rows", measured->rows.size());
    } else {
        const GpuProfile& profile = std::get<analysis::ImportedProfile>(found).profile;
        text = format_profile(profile);
        what = fmt::format("a profile, {} instructions, {} memory levels",
                           profile.instructions.size(), profile.memory_levels.size());
    }
    write_text_file(arguments.output, text, arguments.force ? Overwrite::yes : Overwrite::no);
    for (const std::string& note : notes) fmt::print(stderr, "{}\n", note);
    fmt::print(stderr, "{}: {}\n", arguments.output.string(), what);
}

std::vector<std::string> format_names() {
    std::vector<std::string> names;
    const auto formats = analysis::import_formats();
    names.reserve(formats.size());
    for (const analysis::ImportFormat& format : formats) names.emplace_back(format.name);
    return names;
}

}  // namespace

void add_import(const Command& app) {
    auto arguments = std::make_shared<Arguments>();
    const Command command = app.subcommand(
        "import", "Read another tool's configuration or results as a profile or measurements");
    command
        .add_option("format", arguments->format,
                    "Profile: accelsim, mt4g, clpeak, mixbench, google-benchmark, gpu-cache (also\n"
                    "gpu-l2-cache). Measurements: gpu-latency, cuda-incore. nvbench: either")
        .required()
        .check(one_of(format_names()))
        .type_name("FORMAT");
    command
        .add_option("files", arguments->files,
                    "The other tool's file; accelsim: gpgpusim.config and trace.config")
        .required()
        .type_name("FILE");
    command.add_option("-o,--output", arguments->output, "Profile (YAML) or measurements (JSON)")
        .required()
        .type_name("FILE");
    command.add_option("--given name|--name", arguments->hints.name, "The device's name")
        .type_name("TEXT");
    constexpr int most_cores = 100000;
    command.add_option("--given cores|--cores", arguments->hints.cores, "Cores of the device")
        .check(in_range(1, most_cores))
        .type_name("N");
    constexpr int most_lanes = 1024;
    command
        .add_option("--given warp_size|--warp-size", arguments->hints.warp_size, "Threads per warp")
        .check(in_range(1, most_lanes))
        .type_name("N");
    constexpr double least_clock = 1;
    constexpr double most_clock = 1e15;
    command.add_option("--given clock_hz|--clock-hz", arguments->hints.clock_hz, "Core clock")
        .check(number_between(least_clock, most_clock))
        .type_name("HZ");
    command
        .add_option("--given access_bytes|--access-bytes", arguments->hints.access_bytes,
                    "gpu-cache: bytes that a lane loads at once")
        .check(one_of({4, 8, 16}))
        .type_name("N");
    command
        .add_option("--given device|--nth", arguments->hints.device,
                    "clpeak, mixbench, nvbench: which of the file's devices, from 1")
        .check(positive_number())
        .type_name("N");
    command.add_flag("--force", arguments->force, "Replace an existing file");
    add_help_end(
        command,
        {.text =
             "Input: files of other tools. Output: a profile for 'diff', 'table' and 'check', or "
             "a\n"
             "measurement file for 'fit'; on stderr what it lacks and what was left out. Nothing "
             "is\n"
             "invented: throughput alone becomes an upper bound of λ, a latency alone a memory "
             "level, and\n"
             "what can become neither is refused with file, line and key "
             "(docs/how-to/convert-profiles.md).",
         .exit_codes = {},
         .examples =
             "occupipe convert --from accelsim rtx2070.config --given clock_hz=1410e6 -o "
             "simulator.yaml\n"
             "occupipe convert --from gpu-latency h100_pcie.txt --given cores=114 -o h100.json"});
    command.callback([arguments] { run_import(*arguments); });
}

}  // namespace occupipe::cli
