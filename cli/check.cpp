// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "analysis/lint.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/reported.h"
#include "core/files/file_kind.h"
#include "core/files/files.h"

namespace occupipe::cli {
namespace {

struct Finding {
    std::string summary;
    std::vector<std::string> warnings;
};

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
            const MeasurementFile file = parse_measurements(text, path);
            const auto failed = std::count_if(file.rows.begin(), file.rows.end(),
                                              [](const auto& row) { return row.error; });
            return {fmt::format("measurements, {} rows, {} failed", file.rows.size(), failed),
                    analysis::oddities(file)};
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

}  // namespace

void add_check(CLI::App& app) {
    const auto paths = std::make_shared<std::vector<std::string>>();
    CLI::App* const command = app.add_subcommand(
        "check", "Validate profiles, kernels and measurement files, and warn of what is unusual");
    command->add_option("files", *paths, "Files of any of these kinds, recognised by their content")
        ->required()
        ->type_name("FILE");
    add_help_end(
        *command,
        {.text = "Output: a line per valid file on stdout; warnings (exit code 0) and errors "
                 "(exit code 2) as\n"
                 "FILE:LINE: KEY: MESSAGE on stderr.",
         .exit_codes = {},
         .examples = "occupipe check profiles/*.yaml sim/kernels/*.yaml"});
    command->callback([paths] { check(*paths); });
}

}  // namespace occupipe::cli
