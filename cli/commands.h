// SPDX-License-Identifier: MIT
// One function per subcommand, each in the file of its name; main.cpp calls them all.
#pragma once

#include <string>
#include <vector>

#include "cli/option.h"

namespace occupipe::cli {

// The whole program; returns the exit code (docs/reference/file-formats/: 0 ok, 1 failed, 2 usage
// or bad input, 3 nothing to run on, 5 device lost).
int run(int argc, char** argv);
// The same of any program's commands.
int run(const Program& program, std::vector<std::string> words);

// Each adds its subcommand to `app`, with a callback that runs it. A callback writes data to
// stdout, messages to stderr, and throws InputError (exit code 2), NothingToRunOn (3) or any
// other std::exception (1); run() prints what() and exits.
void add_list(const Command& app);
void add_explain_instruction(const Command& app);
void add_characterize(const Command& app);
void add_measure(const Command& app);
void add_fit(const Command& app);
void add_table(const Command& app);
void add_check(const Command& app);
void add_convert(const Command& app);
void add_predict(const Command& app);
void add_sweep(const Command& app);
void add_tune(const Command& app);
void add_compare(const Command& app);
void add_validate(const Command& app);
void add_execute(const Command& app);
void add_run(const Command& app);
void add_extract(const Command& app);
void add_report(const Command& app);
void add_completion(const Program& program);  // hidden: what shells ask, and their scripts
// Uses of these (cli/spellings.h).
void add_smoke(const Command& app);
void add_merge(const Command& app);
void add_watch(const Command& app);
void add_diff(const Command& app);
void add_fleet(const Command& app);
void add_selfcheck(const Command& app);
void add_rates(const Command& app);
void add_roofline(const Command& app);
void add_import(const Command& app);
void add_export(const Command& app);
void add_disassemble(const Command& app);

}  // namespace occupipe::cli
