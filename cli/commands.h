// SPDX-License-Identifier: MIT
// One function per subcommand, each in the file of its name; main.cpp calls them all.
#pragma once

namespace CLI {
class App;
}

namespace occupipe::cli {

// The whole program; returns the exit code (docs/file-formats.md: 0 ok, 1 failed, 2 usage or bad
// input, 3 nothing to run on, 5 device lost).
int run(int argc, char** argv);
// The same of another program's commands, whose app has its name.
int run(CLI::App& app, int argc, char** argv);

// Each adds its subcommand to `app`, with a callback that runs it. A callback writes data to
// stdout, messages to stderr, and throws InputError (exit code 2), NothingToRunOn (3) or any
// other std::exception (1); run() prints what() and exits.
void add_list(CLI::App& app);
void add_explain_instruction(CLI::App& app);
void add_measure(CLI::App& app);
void add_smoke(CLI::App& app);
void add_fit(CLI::App& app);
void add_characterize(CLI::App& app);
void add_diff(CLI::App& app);
void add_merge(CLI::App& app);
void add_report(CLI::App& app);
void add_watch(CLI::App& app);
void add_export(CLI::App& app);
void add_import(CLI::App& app);
void add_table(CLI::App& app);
void add_disassemble(CLI::App& app);
void add_execute(CLI::App& app);
void add_extract(CLI::App& app);
void add_rates(CLI::App& app);
void add_roofline(CLI::App& app);
void add_predict(CLI::App& app);
void add_sweep(CLI::App& app);
void add_fleet(CLI::App& app);
void add_compare(CLI::App& app);
void add_validate(CLI::App& app);
void add_check(CLI::App& app);
void add_selfcheck(CLI::App& app);

}  // namespace occupipe::cli
