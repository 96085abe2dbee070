// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "automatch/cli/commands.h"
#include "automatch/workload.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/reported.h"
#include "core/error.h"

namespace occupipe::automatch {
namespace {

void check(const std::vector<std::string>& paths) {
    bool fine = true;
    for (const std::string& path : paths) {
        try {
            const Workload workload = read_workload(path);
            fmt::print("{}: ok (workload, {} operations in {} levels)\n", path,
                       workload.operations.total, workload.as_written().depth);
        } catch (const InputError& fault) {
            fmt::print(stderr, "{}\n", fault.what());
            fine = false;
        }
    }
    if (!fine) throw cli::Reported(cli::exit_bad_input);
}

}  // namespace

void add_check(const cli::Command& app) {
    const auto paths = std::make_shared<std::vector<std::string>>();
    const cli::Command command = app.subcommand("check", "Check workload files");
    command.add_option("files", *paths, "What 'automatch predict -o' wrote (YAML)")
        .required()
        .type_name("FILE");
    cli::add_help_end(command,
                      {.text = "Input: workloads (occupipe-workload/1). Output: a line for each "
                               "file; what is wrong\n"
                               "goes to stderr, with file, line and key.",
                       .exit_codes = {},
                       .examples = "automatch check jacobi.workload.yaml"});
    command.callback([paths] { check(*paths); });
}

}  // namespace occupipe::automatch
