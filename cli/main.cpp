// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <string>
#include <utility>

#include "bench/cuda/driver/nvrtc.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/option.h"
#include "cli/reported.h"
#include "cli/spellings.h"
#include "core/error.h"
#include "sim/engine/run_progress.h"

namespace occupipe::cli {
namespace {

constexpr const char* about =
    "Occupipe measures what instructions cost on a GPU (or, through OpenCL, a CPU), fits\n"
    "λ (cycles per warp-instruction) and Λ (latency) with standard errors, and predicts\n"
    "kernels with the Pipeline model and the analytical models that it generalises.";

constexpr const char* first_steps =
    "'occupipe SUBCOMMAND --help' describes its inputs, outputs and exit codes, with examples.\n"
    "\n"
    "First steps:\n"
    "  occupipe list devices\n"
    "  occupipe characterize --quick -o out\n"
    "  occupipe table out/profile.yaml rtx-2070\n"
    "  occupipe predict saxpy --profile out/profile.yaml --occupancy all\n"
    "\n"
    "Data goes to stdout, messages go to stderr. Exit codes: 0 ok, 1 failed,\n"
    "2 wrong usage or bad input, 3 no device to run on, 4 no answer within --limit,\n"
    "5 the device was lost at one point, which is recorded: run the same command again\n"
    "to go on, 6 (check --watch) a number moved, 130 interrupted.\n";

// The first line is the program's own.
std::string version_text() {
    const std::string program = std::string("occupipe ") + OCCUPIPE_VERSION + "\n";
    try {
        return program +
               fmt::format("NVRTC {}: {}", bench::nvrtc().version(), bench::nvrtc().path());
    } catch (const DeviceError& error) {
        return program + "no " + error.what();
    }
}

// What to do about a limit that was reached, as far as the command takes it and was not told yet.
std::string ways_out(const Command& command) {
    std::string ways = "Try fewer groups or shorter loops";
    if (command.has_option("--limit")) ways += ", or a higher --limit";
    if (command.has_option("--estimate") && !command.option("--estimate").given())
        ways += ", or --estimate";
    return ways;
}

int report(const std::exception& error, ExitCode code) {
    fmt::print(stderr, "occupipe: {}\n", error.what());
    return code;
}

int run_command(int argc, char** argv) {
    const Program app(about, "occupipe", version_text);
    app.footer(first_steps);
    add_list(app);
    add_explain_instruction(app);
#if OCCUPIPE_FIT
    add_characterize(app);
#endif
    add_measure(app);
#if OCCUPIPE_FIT
    add_fit(app);
#endif
    add_table(app);
    add_check(app);
    add_convert(app);
    add_predict(app);
    add_sweep(app);
    add_compare(app);
    add_validate(app);
    add_execute(app);
    add_extract(app);
#if OCCUPIPE_FIT
    add_report(app);
#endif
    add_match(app);
    add_uses(app);
    CalledAs call = called_as({argv + 1, argv + argc});
    if (!call.hint.empty()) fmt::print(stderr, "occupipe: note: {}\n", call.hint);
    try {
        if (app.run(std::move(call.words))) return exit_ok;
        fmt::print(stderr, "{}", app.help());
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
        fmt::print(stderr, "occupipe: {}\n{}.\n", error.what(), ways_out(app.named()));
        return exit_limit_reached;
    } catch (const Interrupted& error) {
        return report(error, exit_interrupted);
    } catch (const std::filesystem::filesystem_error& error) {
        fmt::print(stderr, "occupipe: {}: {}\n", error.path1().string(), error.code().message());
        return exit_bad_input;
    } catch (const std::bad_alloc&) {
        fmt::print(stderr, "occupipe: out of memory\n");
        return exit_failed;
    } catch (const std::exception& error) {
        return report(error, exit_failed);
    }
}

// As GNU's coreutils do: what stdout did not take is a failure. A reader that went away (`| head`)
// ends the process by SIGPIPE before this, unless whoever started it ignores that signal.
int with_stdout_written(int code) {
    const bool earlier = std::ferror(stdout) != 0;
    const int fault = std::fflush(stdout) != 0 ? errno : 0;
    const bool written = !earlier && fault == 0 && std::cout.flush();
    if (written || code != exit_ok) return code;
    fmt::print(stderr, "occupipe: stdout could not be written{}{}\n", fault != 0 ? ": " : "",
               fault != 0 ? std::strerror(fault) : "");
    return exit_failed;
}

}  // namespace

int run(int argc, char** argv) { return with_stdout_written(run_command(argc, argv)); }

}  // namespace occupipe::cli
