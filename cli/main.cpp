// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>
#include <utility>

#include "bench/cuda/driver/nvrtc.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/moved_program.h"
#include "cli/option.h"
#include "cli/spellings.h"
#include "core/error.h"

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

void add_commands(const Program& app) {
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
    add_tune(app);
    add_compare(app);
    add_validate(app);
    add_execute(app);
    add_run(app);
    add_extract(app);
#if OCCUPIPE_FIT
    add_report(app);
#endif
    add_uses(app);
    add_completion(app);
}

}  // namespace

int run(int argc, char** argv) {
    try {
        run_moved_command({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        fmt::print(stderr, "occupipe: {}\n", error.what());
        return exit_failed;
    }
    const Program program(about, "occupipe", version_text);
    program.footer(first_steps);
    add_commands(program);
    CalledAs call = called_as({argv + 1, argv + argc});
    if (!call.hint.empty()) fmt::print(stderr, "occupipe: note: {}\n", call.hint);
    return run(program, std::move(call.words));
}

}  // namespace occupipe::cli
