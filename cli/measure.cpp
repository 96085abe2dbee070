// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <stdexcept>

#include "bench/sweep.h"
#include "cli/commands.h"
#include "cli/device.h"
#include "cli/measure_device.h"

namespace occupipe::cli {
namespace {

struct Arguments {
    std::string device;
    MeasureRequest request;
    bool force = false;
    bool dry_run = false;
};

void print_plan(const bench::Backend& backend, const Arguments& arguments) {
    const auto sweep = bench::make_sweep(
        backend, {.patterns = bench::split_patterns(arguments.request.instructions),
                  .quick = arguments.request.quick,
                  .pairs = arguments.request.pairs});
    for (const auto& point : sweep.points) fmt::print("{}\n", point.name());
    for (const auto& skipped : sweep.skipped) {
        fmt::print(stderr, "not measured: {}: {}\n", skipped.subject, skipped.reason);
    }
    fmt::print(stderr, "{} points, {} repetitions each\n", sweep.points.size(), sweep.repetitions);
}

}  // namespace

void add_measure(CLI::App& app) {
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand(
        "measure", "Measure instructions over occupancy; write Google Benchmark's JSON");
    command->add_option("--device", arguments->device, device_help);
    command->add_option("--instructions", arguments->request.instructions,
                        "comma-separated names or patterns, e.g. 'fma.*,ld.shared.u32,\n"
                        "mix(fma.f32*8,cos.approx.f32)'; default: everything the device can do");
    command->add_flag("--quick", arguments->request.quick, "fewer shapes and repetitions");
    command->add_flag("--pairs", arguments->request.pairs,
                      "also mix every two of the chosen instructions (of a representative list\n"
                      "without --instructions): which of them share a subsystem");
    command->add_flag("--dry-run", arguments->dry_run, "print the points that would be measured");
    auto* output =
        command->add_option("-o,--output", arguments->request.output, "FILE.json to write");
    command->add_flag("--force", arguments->force, "replace an existing file");
    command->add_option("flags", arguments->request.benchmark_flags,
                        "after --: flags for Google Benchmark, e.g. -- --benchmark_filter=fma");
    command->footer(
        "An interrupted run (Ctrl-C, power cut) loses at most the point under way: the same "
        "command\n"
        "goes on from FILE.json.partial.");
    command->callback([arguments, output] {
        if (arguments->dry_run) {
            print_plan(*open_named_device(arguments->device), *arguments);
            return;
        }
        if (output->count() == 0) throw CLI::RequiredError("--output");
        arguments->request.overwrite = arguments->force ? Overwrite::yes : Overwrite::no;
        const auto backend = open_named_device(arguments->device);
        if (!measure_device(*backend, arguments->request)) throw std::runtime_error("interrupted");
    });
}

}  // namespace occupipe::cli
