// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <span>

#include "analysis/device/lint.h"
#include "analysis/measured/submission.h"
#include "cli/commands.h"
#include "cli/moved_program.h"
#include "cli/options.h"
#include "cli/reported.h"
#include "core/error.h"
#include "core/files/file_kind.h"
#include "core/files/files.h"
#include "core/files/launch_files.h"
#include "core/kernel_parameters.h"
#if OCCUPIPE_FIT
#include "fit/curves/counters.h"
#include "fit/profile/device_facts.h"
#endif

namespace occupipe::cli {
namespace {

struct Finding {
    std::string summary;
    std::vector<std::string> warnings;
};

#if OCCUPIPE_FIT
// What `fit` would not take: the whole file (InputError), or some of its rows (warnings).
std::vector<std::string> refused_by_fit(const MeasurementFile& file) {
    device_facts(std::span(&file, 1));
    std::map<std::string, std::size_t> faults;
    std::size_t measured = 0;
    std::size_t refused = 0;
    for (const MeasurementRow& row : file.rows) {
        if (row.error) continue;
        ++measured;
        const auto fault = counter_fault(row);
        if (!fault) continue;
        ++refused;
        ++faults[*fault];
    }
    if (measured > 0 && refused == measured)
        throw InputError(file.path, {}, "benchmarks",
                         fmt::format("no row can be fitted: {}", faults.begin()->first));
    std::vector<std::string> warnings;
    if (measured == 0 && !file.rows.empty())
        warnings.emplace_back("benchmarks: all rows failed; fit refuses the file");
    for (const auto& [fault, rows] : faults)
        warnings.push_back(fmt::format("benchmarks: fit leaves out {} row{}: {}", rows,
                                       rows == 1 ? "" : "s", fault));
    return warnings;
}
#endif

Finding examine(const std::string& path) {
    const std::string text = read_text_file(path);
    switch (file_kind(text, path)) {
        case FileKind::profile: {
            const GpuProfile profile = parse_profile(text, path);
            return {fmt::format("profile, {} instructions", profile.instructions.size()),
                    analysis::oddities(profile)};
        }
        case FileKind::kernel: {
            const Kernel kernel = parse_kernel(text, path);
            std::vector<std::int64_t> counts;
            for (const WarpProgram& program : kernel.warps) {
                counts.push_back(instruction_count(program));
            }
            return {fmt::format("kernel, {} instructions per warp", fmt::join(counts, " or ")),
                    analysis::oddities(kernel)};
        }
        case FileKind::measurements: {
            std::vector<std::string> warnings;
            const MeasurementFile file = parse_measurements(text, path);
#if OCCUPIPE_FIT
            warnings = refused_by_fit(file);
#endif
            std::ranges::move(analysis::oddities(file), std::back_inserter(warnings));
            const auto failed = std::count_if(file.rows.begin(), file.rows.end(),
                                              [](const auto& row) { return row.error; });
            return {fmt::format("measurements, {} rows, {} failed", file.rows.size(), failed),
                    warnings};
        }
        case FileKind::kernel_parameters:
            return {fmt::format("kernel parameters, {} of them",
                                parse_kernel_parameters(text, path).size()),
                    {}};
        case FileKind::workload: {  // of AutoMatch, which says "PATH: ok (SUMMARY)", or why not
            std::string output = run_automatch({"check", path}).said;
            while (output.ends_with('\n')) output.pop_back();
            const std::string fine = path + ": ok (";
            if (!output.starts_with(fine)) throw InputError(output);
            return {output.substr(fine.size(), output.size() - fine.size() - 1), {}};
        }
        case FileKind::launches: {
            const LaunchPlan plan =
                parse_launches(text, path, std::filesystem::path(path).parent_path());
            std::vector<std::string> warnings;
            if (!plan.source.empty() && !std::filesystem::exists(plan.source))
                warnings.push_back(fmt::format("source: no file '{}'", plan.source));
            const std::uint64_t launches = launch_count(plan);
            return {fmt::format("launches, {} of them, {} buffers", launches, plan.buffers.size()),
                    warnings};
        }
    }
    return {};
}

void check(const std::vector<std::string>& paths) {
    std::size_t bad = 0;
    for (const std::string& path : paths) {
        try {
            const Finding finding = examine(path);
            for (const std::string& warning : finding.warnings) {
                fmt::print(stderr, "{}: warning: {}\n", path, warning);
            }
            fmt::print("{}: ok ({})\n", path, finding.summary);
        } catch (const InputError& fault) {
            fmt::print(stderr, "{}\n", fault.what());
            ++bad;
        }
    }
    if (bad > 0) throw Reported(2);  // each fault has been printed on a line of its own
}

struct Arguments {
    std::vector<std::string> paths;
    bool submit = false;
    std::string receipts;
};

#if OCCUPIPE_FIT
std::vector<analysis::SubmittedFile> read_receipts(const std::string& folder) {
    std::vector<analysis::SubmittedFile> receipts;
    if (folder.empty()) return receipts;
    if (!std::filesystem::is_directory(folder))
        throw InputError(folder +
                         ": is not a folder; name one that 'occupipe measure --receipts' wrote");
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == ".txt")
            receipts.push_back({entry.path().string(), read_text_file(entry.path())});
    std::ranges::sort(receipts, {}, &analysis::SubmittedFile::path);
    return receipts;
}

void check_submission(const Arguments& arguments) {
    analysis::Submission submission;
    for (const std::string& path : arguments.paths) {
        analysis::SubmittedFile file{path, read_text_file(path)};
        const FileKind kind = file_kind(file.text, path);
        if (kind == FileKind::measurements)
            submission.measurements.push_back(std::move(file));
        else if (kind == FileKind::profile && submission.profile.path.empty())
            submission.profile = std::move(file);
        else
            throw InputError(path + ": --submit takes one profile and its measurement files");
    }
    if (submission.profile.path.empty())
        throw InputError("--submit: no profile among the files; 'occupipe fit' makes one");
    submission.receipts = read_receipts(arguments.receipts);
    const std::vector<std::string> faults = analysis::submission_faults(submission);
    for (const std::string& fault : faults) fmt::print(stderr, "{}\n", fault);
    if (!faults.empty()) throw Reported(2);
    fmt::print("{}: ok to submit (fitted again from {} file{} and equal, {} receipt{})\n",
               submission.profile.path, submission.measurements.size(),
               submission.measurements.size() == 1 ? "" : "s", submission.receipts.size(),
               submission.receipts.size() == 1 ? "" : "s");
}
#endif

}  // namespace

void add_check(const Command& app) {
    const auto arguments = std::make_shared<Arguments>();
    const Command command = app.subcommand(
        "check",
        "Validate profiles, kernels, measurement and launch files, and warn of what is unusual");
    command
        .add_option("files", arguments->paths,
                    "Files of any of these kinds, recognised by their content")
        .required()
        .type_name("FILE");
#if OCCUPIPE_FIT
    const Option submit = command.add_flag(
        "--submit", arguments->submit,
        "Instead, whether one profile may join profiles/: give it with the measurement files that\n"
        "it was fitted from (CONTRIBUTING.md)");
    command
        .add_option("--receipts", arguments->receipts,
                    "With --submit, of CUDA: the folder that 'measure --receipts' filled")
        .needs(submit)
        .type_name("FOLDER");
#endif
    add_help_end(
        command,
        {.text = "Output: a line per valid file on stdout; warnings (exit code 0) and errors "
                 "(exit code 2) as\n"
                 "FILE:LINE: KEY: MESSAGE on stderr.",
         .exit_codes = {},
         .examples = "occupipe check profiles/*.yaml sim/kernels/*.yaml\n"
                     "occupipe check --submit profile.yaml raw.json --receipts receipts"});
    command.callback([arguments] {
#if OCCUPIPE_FIT
        if (arguments->submit) return check_submission(*arguments);
#endif
        check(arguments->paths);
    });
}

}  // namespace occupipe::cli
