// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/reported.h"
#include "core/error.h"
#include "core/suggestions.h"
#include "sim/engine/run_progress.h"

namespace occupipe::cli {
namespace {

// What to do about a limit that was reached, as far as the command takes it and was not told yet.
std::string ways_out(const CLI::App& command) {
    std::string ways = "Try fewer groups or shorter loops";
    if (command.get_option_no_throw("--limit") != nullptr) ways += ", or a higher --limit";
    const CLI::Option* estimate = command.get_option_no_throw("--estimate");
    if (estimate != nullptr && estimate->empty()) ways += ", or --estimate";
    return ways;
}

// The command that the command line names; the program itself where it names none.
const CLI::App& named_command(const CLI::App& app) {
    const CLI::App* command = &app;
    while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
    return *command;
}

// One line: what is wrong, and where to read more.
std::string usage_fault(const CLI::App& app, const CLI::ParseError& error) {
    const CLI::App& command = named_command(app);
    std::string name = app.get_name();
    if (&command != &app) {
        if (command.get_parent() != &app) name += " " + command.get_parent()->get_name();
        name += " " + command.get_name();
    }
    std::string what = error.what();
    const std::vector<std::string> extra = app.remaining(true);
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !extra.empty()) {
        what = fmt::format("unexpected argument '{}'", extra.front());
        std::vector<std::string> commands;
        for (const CLI::App* one : command.get_subcommands([](const CLI::App*) { return true; }))
            commands.push_back(one->get_name());
        if (!commands.empty() && !extra.front().starts_with('-')) {
            const auto near = near_names(extra.front(), commands);
            what =
                fmt::format("'{}' is not a command{}", extra.front(),
                            near.empty() ? "" : fmt::format("; near: {}", fmt::join(near, ", ")));
        }
    }
    return fmt::format("{}: {}; see '{} --help'", name, what, name);
}

int run_command(CLI::App& app, int argc, char** argv) {
    const auto report = [&](const std::exception& error, ExitCode code) {
        fmt::print(stderr, "{}: {}\n", app.get_name(), error.what());
        return code;
    };
    try {
        app.parse(argc, argv);
        if (!app.get_subcommands().empty()) return exit_ok;
        fmt::print(stderr, "{}", app.help());
        return exit_bad_input;
    } catch (const CLI::ParseError& error) {
        // Help and version come as "errors" too, with exit code 0.
        if (error.get_exit_code() == 0) return app.exit(error);
        fmt::print(stderr, "{}\n", usage_fault(app, error));
        return exit_bad_input;
    } catch (const Reported& end) {
        return end.exit_code;
    } catch (const InputError& error) {
        return report(error, exit_bad_input);
    } catch (const NothingToRunOn& error) {
        return report(error, exit_nothing_to_run_on);
    } catch (const LimitReached& error) {
        report(error, exit_limit_reached);
        fmt::print(stderr, "{}.\n", ways_out(named_command(app)));
        return exit_limit_reached;
    } catch (const Interrupted& error) {
        return report(error, exit_interrupted);
    } catch (const std::filesystem::filesystem_error& error) {
        fmt::print(stderr, "{}: {}: {}\n", app.get_name(), error.path1().string(),
                   error.code().message());
        return exit_bad_input;
    } catch (const std::bad_alloc&) {
        fmt::print(stderr, "{}: out of memory\n", app.get_name());
        return exit_failed;
    } catch (const std::exception& error) {
        return report(error, exit_failed);
    }
}

// As GNU's coreutils do: what stdout did not take is a failure. A reader that went away (`| head`)
// ends the process by SIGPIPE before this, unless whoever started it ignores that signal.
int with_stdout_written(const std::string& program, int code) {
    const bool earlier = std::ferror(stdout) != 0;
    const int fault = std::fflush(stdout) != 0 ? errno : 0;
    const bool written = !earlier && fault == 0 && std::cout.flush();
    if (written || code != exit_ok) return code;
    fmt::print(stderr, "{}: stdout could not be written{}{}\n", program, fault != 0 ? ": " : "",
               fault != 0 ? std::strerror(fault) : "");
    return exit_failed;
}

}  // namespace

int run(CLI::App& app, int argc, char** argv) {
    return with_stdout_written(app.get_name(), run_command(app, argc, argv));
}

}  // namespace occupipe::cli
