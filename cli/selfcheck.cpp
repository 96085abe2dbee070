// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "analysis/device/self_check.h"
#include "bench/instructions/instruction_table.h"
#include "bench/offline/architecture.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/reported.h"
#include "core/error.h"
#include "core/files/file_kind.h"
#include "core/files/files.h"
#include "report/page/findings.h"

namespace occupipe::cli {
namespace {

namespace fs = std::filesystem;

struct Arguments {
    std::vector<std::string> files;
    std::vector<std::string> published;
    std::vector<std::string> ncu;
    std::string receipts;
    std::string output;
    bool json = false;
    bool strict = false;
    bool force = false;
};

struct Inputs {
    std::vector<std::string> names;  // of the profiles
    std::vector<GpuProfile> profiles;
    std::vector<MeasurementFile> measurements;
};

Inputs read_inputs(const std::vector<std::string>& files) {
    Inputs inputs;
    for (const std::string& path : files) {
        const std::string text = read_text_file(path);
        switch (file_kind(text, path)) {
            case FileKind::profile:
                inputs.names.push_back(path);
                inputs.profiles.push_back(parse_profile(text, path));
                break;
            case FileKind::measurements:
                inputs.measurements.push_back(parse_measurements(text, path));
                break;
            case FileKind::kernel:
                throw InputError(path + ": is a kernel; give profiles and measurement files");
            case FileKind::kernel_parameters:
                throw InputError(path +
                                 ": holds kernel parameters; give profiles and measurement files");
            case FileKind::workload:
                throw InputError(path + ": is a workload; give profiles and measurement files");
            case FileKind::launches:
                throw InputError(path + ": is a launch file; give profiles and measurement files");
        }
    }
    if (inputs.profiles.empty())
        throw InputError("no profile given; 'occupipe fit' makes one from measurements");
    return inputs;
}

analysis::CountedLatencies read_receipts(const std::string& folder) {
    analysis::CountedLatencies counted;
    if (folder.empty()) return counted;
    if (!fs::is_directory(folder))
        throw InputError(folder +
                         ": is not a folder; name one that 'occupipe measure --receipts' wrote");
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
        if (entry.path().extension() == ".txt") files.push_back(entry.path());
    std::ranges::sort(files);
    for (const fs::path& file : files)
        if (const auto one = analysis::counted_latency_of_receipt(read_text_file(file)))
            counted.insert(*one);
    if (files.empty())
        throw InputError(
            folder + ": contains no receipts (*.txt); 'occupipe measure --receipts' writes them");
    return counted;
}

int shape_number(const std::string& argument, const std::string& point, const char* key) {
    const std::string prefix = fmt::format("/{}:", key);
    const std::size_t at = point.find(prefix);
    int value = 0;
    if (at != std::string::npos) {
        const char* begin = point.data() + at + prefix.size();
        const auto [end, fault] = std::from_chars(begin, point.data() + point.size(), value);
        const bool ends = end == point.data() + point.size() || *end == '/';
        if (fault == std::errc() && ends && value > 0) return value;
    }
    throw InputError(
        fmt::format("--ncu {}: expected "
                    "SUBJECT/group_warps:N/concurrent_groups:N/chains:N/depth:N=FILE, but {} "
                    "is missing or not a count",
                    argument, key));
}

analysis::NcuPoint read_ncu(const std::string& argument) {
    const std::size_t equals = argument.rfind('=');
    if (equals == std::string::npos || equals + 1 == argument.size())
        throw InputError(fmt::format("--ncu {}: expected POINT=FILE", argument));
    const std::string point = argument.substr(0, equals);
    const std::string file = argument.substr(equals + 1);
    analysis::NcuPoint out;
    out.subject = point.substr(0, point.find('/'));
    out.shape = {.group_warps = shape_number(argument, point, "group_warps"),
                 .concurrent_groups = shape_number(argument, point, "concurrent_groups"),
                 .chains = shape_number(argument, point, "chains"),
                 .depth = shape_number(argument, point, "depth")};
    const auto kernels = analysis::parse_ncu_csv(read_text_file(file), file);
    if (kernels.empty())
        throw InputError(file + ": contains no profiled launch; run ncu on the point again");
    out.kernel = kernels.back();  // earlier ones warm up
    return out;
}

// Rows that a GPU of this compute capability can measure; empty where none is known.
std::vector<std::string> expected_rows(const GpuProfile& profile) {
    std::string name = "sm_" + profile.device.compute_capability;
    std::erase(name, '.');
    const auto known = bench::known_architectures();
    std::vector<std::string> rows;
    if (std::ranges::find(known, name) == known.end() || analysis::backend_of(profile) != "cuda")
        return rows;
    const auto backend = bench::open_architecture(name, std::nullopt, std::nullopt);
    for (const bench::Row& row : backend->rows()) {
        const bool in_profile = !bench::measures_launches(row.pattern) && !row.working_sets &&
                                row.pattern != bench::Pattern::empty_loop;
        if (in_profile && !backend->unsupported(row)) rows.emplace_back(row.id);
    }
    return rows;
}

// The files of the profile's device, and of its backend if both name one.
std::vector<MeasurementFile> files_of(const GpuProfile& profile,
                                      const std::vector<MeasurementFile>& files) {
    const auto context = [](const MeasurementFile& file, const char* key) {
        const auto found = file.context.find(key);
        return found == file.context.end() ? std::string() : found->second;
    };
    std::vector<MeasurementFile> own;
    const std::string backend = analysis::backend_of(profile);
    for (const MeasurementFile& file : files) {
        const std::string theirs = context(file, "backend");
        const bool same_backend = backend.empty() || theirs.empty() || backend == theirs;
        if (context(file, "device_name") == profile.device.name && same_backend)
            own.push_back(file);
    }
    return own;
}

void selfcheck(const Arguments& arguments) {
    std::vector<NamedPath> read = {{"--receipts", arguments.receipts}};
    add_paths(read, "FILE", arguments.files);
    add_paths(read, "--published", arguments.published);
    for (const std::string& argument : arguments.ncu)
        read.push_back({"--ncu", argument.substr(argument.rfind('=') + 1)});
    keep_apart(read, {{"--output", arguments.output}});
    const Inputs inputs = read_inputs(arguments.files);
    const analysis::CountedLatencies counted = read_receipts(arguments.receipts);
    std::vector<analysis::NcuPoint> profiled;
    for (const std::string& argument : arguments.ncu) profiled.push_back(read_ncu(argument));
    analysis::Published published = analysis::built_in_published();
    for (const std::string& path : arguments.published)
        published.add(analysis::parse_published(read_text_file(path), path));
    std::vector<report::CheckedProfile> checked;
    std::size_t serious = 0;
    for (std::size_t i = 0; i < inputs.profiles.size(); ++i) {
        const GpuProfile& profile = inputs.profiles[i];
        std::vector<GpuProfile> others;
        for (std::size_t j = 0; j < inputs.profiles.size(); ++j)
            if (j != i) others.push_back(inputs.profiles[j]);
        const auto own = files_of(profile, inputs.measurements);
        checked.push_back({inputs.names[i], &profile,
                           analysis::self_check({.profile = profile,
                                                 .measurements = own,
                                                 .others = others,
                                                 .counted = counted,
                                                 .expected = expected_rows(profile),
                                                 .profiled = profiled,
                                                 .published = &published})});
        serious += checked.back().check.serious();
    }
    const bool html = fs::path(arguments.output).extension() == ".html";
    const std::string text = arguments.json ? report::findings_json(checked)
                             : html         ? report::findings_html(checked, published)
                                            : report::findings_markdown(checked, published);
    if (arguments.output.empty()) {
        fmt::print("{}", text);
    } else {
        write_text_file(arguments.output, text, arguments.force ? Overwrite::yes : Overwrite::no);
        fmt::print(stderr, "wrote {}: {} serious findings\n", arguments.output, serious);
    }
    if (arguments.strict && serious > 0) throw Reported{1};
}

}  // namespace

void add_selfcheck(const Command& app) {
    auto arguments = std::make_shared<Arguments>();
    const Command command = app.subcommand(
        "selfcheck",
        "Check profiles against published figures, machine code, physics and measurements");
    command
        .add_option("files", arguments->files, "Profiles, and the measurements they were fitted to")
        .required()
        .type_name("FILE");
    command
        .add_option("--receipts", arguments->receipts,
                    "Folder that 'measure --receipts' filled: compares Λ with the assembler's\n"
                    "stall counts")
        .type_name("DIR");
    command
        .add_option("--ncu", arguments->ncu,
                    "Output of 'ncu --csv' for one point, named as in the measurement file;\n"
                    "may be repeated")
        .type_name("POINT=FILE");
    command
        .add_option("--published", arguments->published,
                    "Further published figures (docs/how-to/self-check.md); may be repeated")
        .type_name("FILE");
    command
        .add_option("-o,--output", arguments->output,
                    "Page to write: HTML if it ends in .html, else Markdown (default: stdout)")
        .type_name("FILE");
    command.add_flag("--json", arguments->json, "Write JSON instead of a page");
    command.add_flag("--fail-on serious|--strict", arguments->strict,
                     "Exit with 1 when a finding is serious");
    command.add_flag("--force", arguments->force, "Replace an existing file");
    add_help_end(
        command,
        {.text = "Output: what does not agree, the most suspicious first, with possible "
                 "causes; then what\n"
                 "agrees, and what could not be compared. Exit code 1 only with --fail-on.",
         .exit_codes = {},
         .examples = "occupipe check --self results/cpu-amd-zen4-pocl/profile-quick.yaml "
                     "\\\n"
                     "    results/cpu-amd-zen4-pocl/2026-11-21-quick.json"});
    command.callback([arguments] { selfcheck(*arguments); });
}

}  // namespace occupipe::cli
