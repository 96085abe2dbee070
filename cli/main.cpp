// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include "bench/cuda/driver/nvrtc.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/reported.h"
#include "core/error.h"
#include "sim/engine/run_progress.h"

namespace occupipe::cli {
namespace {

constexpr const char* about =
    "Occupipe measures what instructions cost on a GPU (or, through OpenCL, a CPU), fits\n"
    "λ (cycles per warp-instruction) and Λ (latency) with standard errors, and predicts\n"
    "kernels with the Pipeline model and the analytical models that it generalises.";

constexpr const char* walk =
    "A first walk:\n"
    "  occupipe list devices\n"
    "  occupipe characterize --quick -o out          measure, fit, table and self-check in one go\n"
    "  occupipe table out/profile.yaml profiles/*.yaml\n"
    "  occupipe predict KERNEL.yaml --profile out/profile.yaml --occupancy all\n"
    "Exit codes: 0 ok, 1 failed, 2 usage or bad input, 3 nothing to run on,\n"
    "4 stopped at a limit (--limit) without an answer, 130 interrupted,\n"
    "5 the device was lost at one point, which is recorded: the same command goes on.";

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

int report(const std::exception& error, ExitCode code) {
    fmt::print(stderr, "occupipe: {}\n", error.what());
    return code;
}

}  // namespace

int run(int argc, char** argv) {
    CLI::App app(about, "occupipe");
    app.footer(walk);
    app.set_version_flag("--version", version_text);
    add_list(app);
    add_explain_instruction(app);
    add_measure(app);
    add_smoke(app);
#if OCCUPIPE_FIT
    add_fit(app);
    add_characterize(app);
    add_diff(app);
    add_merge(app);
    add_report(app);
#endif
    add_table(app);
    add_rates(app);
    add_predict(app);
    add_compare(app);
    add_check(app);
    add_selfcheck(app);
    try {
        app.parse(argc, argv);
        if (app.get_subcommands().empty()) throw InputError("a subcommand is required; see --help");
        return exit_ok;
    } catch (const CLI::ParseError& error) {
        // Help and version come as "errors" too, with exit code 0.
        if (error.get_exit_code() == 0) return app.exit(error);
        fmt::print(stderr, "occupipe: {}\n", error.what());
        return exit_bad_input;
    } catch (const Reported& end) {
        return end.exit_code;
    } catch (const InputError& error) {
        return report(error, exit_bad_input);
    } catch (const NothingToRunOn& error) {
        return report(error, exit_nothing_to_run_on);
    } catch (const LimitReached& error) {
        fmt::print(
            stderr,
            "occupipe: {}\nA higher --limit, predict --estimate, fewer groups or shorter loops may "
            "give an answer.\n",
            error.what());
        return exit_limit_reached;
    } catch (const Interrupted& error) {
        return report(error, exit_interrupted);
    } catch (const std::bad_alloc&) {
        fmt::print(stderr, "occupipe: out of memory\n");
        return exit_failed;
    } catch (const std::exception& error) {
        return report(error, exit_failed);
    }
}

}  // namespace occupipe::cli
