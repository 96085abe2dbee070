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
    int nth = 1;
    bool force = false;
};

analysis::ImportedProfile profile_in(const Arguments& arguments,
                                     const std::vector<analysis::InputText>& files) {
    if (arguments.format == "accelsim") return analysis::import_accelsim(files, arguments.hints);
    if (arguments.format == "mt4g") return analysis::import_mt4g(files.front(), arguments.hints);
    if (arguments.format == "clpeak")
        return analysis::import_clpeak(files.front(), arguments.hints, arguments.nth);
    return analysis::import_gpu_cache(files.front(), arguments.hints);
}

analysis::ImportedMeasurements measurements_in(const Arguments& arguments,
                                               const analysis::InputText& file) {
    if (arguments.format == "gpu-latency")
        return analysis::import_gpu_latency(file, arguments.hints);
    if (arguments.format == "cuda-incore")
        return analysis::import_cuda_incore(file, arguments.hints);
    return analysis::import_nvbench(file, arguments.hints);
}

void run_import(const Arguments& arguments) {
    if (arguments.files.size() > 1 && arguments.format != "accelsim")
        throw InputError(
            fmt::format("{} takes one file, not {}", arguments.format, arguments.files.size()));
    std::vector<NamedPath> inputs;
    add_paths(inputs, "FILE", arguments.files);
    keep_apart(inputs, {{"--output", arguments.output}});
    if (!arguments.hints.name.empty()) require_text(arguments.hints.name, "--given name");
    std::vector<analysis::InputText> files;
    for (const std::string& file : arguments.files) files.push_back({file, read_text_file(file)});
    const bool measured = arguments.format == "gpu-latency" || arguments.format == "cuda-incore" ||
                          arguments.format == "nvbench";
    std::string text;
    std::vector<std::string> notes;
    std::string what;
    if (measured) {
        const auto found = measurements_in(arguments, files.front());
        text = analysis::measurement_text(found, files.front(), arguments.format);
        notes = found.notes;
        what = fmt::format("a measurement file, {} rows", found.rows.size());
    } else {
        const auto found = profile_in(arguments, files);
        text = format_profile(found.profile);
        notes = found.notes;
        what = fmt::format("a profile, {} instructions, {} memory levels",
                           found.profile.instructions.size(), found.profile.memory_levels.size());
    }
    write_text_file(arguments.output, text, arguments.force ? Overwrite::yes : Overwrite::no);
    for (const std::string& note : notes) fmt::print(stderr, "{}\n", note);
    fmt::print(stderr, "{}: {}\n", arguments.output.string(), what);
}

}  // namespace

void add_import(const Command& app) {
    auto arguments = std::make_shared<Arguments>();
    const Command command = app.subcommand(
        "import", "Read another tool's configuration or results as a profile or measurements");
    command
        .add_option("format", arguments->format,
                    "Profile: accelsim, mt4g, clpeak, gpu-cache (also gpu-l2-cache).\n"
                    "Measurements: gpu-latency, cuda-incore, nvbench")
        .required()
        .check(one_of(
            {"accelsim", "mt4g", "clpeak", "gpu-cache", "gpu-latency", "cuda-incore", "nvbench"}))
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
        .add_option("--given device|--nth", arguments->nth,
                    "clpeak: which of the file's devices, from 1")
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
             "what can become neither is refused with file, line and key (docs/other-tools.md).",
         .exit_codes = {},
         .examples =
             "occupipe convert --from accelsim rtx2070.config --given clock_hz=1410e6 -o "
             "simulator.yaml\n"
             "occupipe convert --from gpu-latency h100_pcie.txt --given cores=114 -o h100.json"});
    command.callback([arguments] { run_import(*arguments); });
}

}  // namespace occupipe::cli
