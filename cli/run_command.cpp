// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/option.h"
#include "cli/reported.h"
#include "core/error.h"
#include "sim/engine/run_progress.h"

namespace occupipe::cli {
namespace {

// What to do about a limit that was reached, as far as the command takes it and was not told yet.
std::string ways_out(const Command& command) {
    std::string ways = "Try fewer groups or shorter loops";
    if (command.has_option("--limit")) ways += ", or a higher --limit";
    // What is shown of a run is never estimated.
    const auto given = [&](const char* name) {
        return command.has_option(name) && command.option(name).given();
    };
    const bool shown =
        std::ranges::any_of(std::array{"--stalls", "--timeline", "--annotate", "--page"}, given);
    if (command.has_option("--estimate") && !given("--estimate") && !shown)
        ways += ", or --estimate";
    if (command.has_option("--uncertainty") && command.option("--uncertainty").given())
        ways += ", or a lower --uncertainty";
    return ways;
}

int run_command(const Program& program, const std::string& name, std::vector<std::string> words) {
    const auto report = [&](const std::exception& error, ExitCode code) {
        fmt::print(stderr, "{}: {}\n", name, error.what());
        return code;
    };
    try {
        if (program.run(std::move(words))) return exit_ok;
        fmt::print(stderr, "{}", program.help());
        return exit_bad_input;
    } catch (const UsageError& error) {
        fmt::print(stderr, "{}\n", error.what());
        return exit_bad_input;
    } catch (const Reported& end) {
        return end.exit_code;
    } catch (const InputError& error) {
        return report(error, exit_bad_input);
    } catch (const NothingToRunOn& error) {
        return report(error, exit_nothing_to_run_on);
    } catch (const LimitReached& error) {
        fmt::print(stderr, "{}: {}\n{}.\n", name, error.what(), ways_out(program.named()));
        return exit_limit_reached;
    } catch (const Interrupted& error) {
        return report(error, exit_interrupted);
    } catch (const std::filesystem::filesystem_error& error) {
        fmt::print(stderr, "{}: {}: {}\n", name, error.path1().string(), error.code().message());
        return exit_bad_input;
    } catch (const std::bad_alloc&) {
        fmt::print(stderr, "{}: out of memory\n", name);
        return exit_failed;
    } catch (const std::exception& error) {
        return report(error, exit_failed);
    }
}

// As GNU's coreutils do: what stdout did not take is a failure. A reader that went away (`| head`)
// ends the process by SIGPIPE before this, unless whoever started it ignores that signal.
int with_stdout_written(const std::string& name, int code) {
    const bool earlier = std::ferror(stdout) != 0;
    const int fault = std::fflush(stdout) != 0 ? errno : 0;
    const bool written = !earlier && fault == 0 && std::cout.flush();
    if (written || code != exit_ok) return code;
    fmt::print(stderr, "{}: stdout could not be written{}{}\n", name, fault != 0 ? ": " : "",
               fault != 0 ? std::strerror(fault) : "");
    return exit_failed;
}

}  // namespace

int run(const Program& program, std::vector<std::string> words) {
    return with_stdout_written(program.name(),
                               run_command(program, program.name(), std::move(words)));
}

}  // namespace occupipe::cli
