// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>

#include "analysis/open_device.h"
#include "bench/cuda/driver/nvrtc.h"
#include "bench/harness/journal.h"
#include "bench/kernel/estimate.h"
#include "bench/kernel/sweep.h"
#include "bench/offline/architecture.h"
#include "cli/commands.h"
#include "cli/measure_carry.h"
#include "cli/measure_compile.h"
#include "cli/measure_device.h"
#include "core/error.h"

namespace occupipe::cli {
namespace {

struct Arguments {
    std::string device;
    MeasureRequest request;
    bool force = false;
    bool dry_run = false;
    bool plan = false;
    std::string point;
    std::string architecture;
    std::optional<int> cores;
    std::optional<double> clock_hz;
    bench::ArchitectureMemory memory;
    bool compile_only = false;
    std::filesystem::path kernels;
    DumpRequest dump;
    ImportRequest import;
    std::string unfinished;

    Overwrite overwrite() const { return force ? Overwrite::yes : Overwrite::no; }
};

std::unique_ptr<bench::Backend> open_backend(const Arguments& arguments,
                                             bench::KernelUse use = bench::KernelUse::carried) {
    if (arguments.architecture.empty()) {
        return analysis::open_named_device(arguments.device, arguments.kernels);
    }
    if (arguments.device != "cuda") {
        throw InputError("--arch goes with --device cuda: kernels of that architecture, no device");
    }
    return bench::open_architecture(arguments.architecture, arguments.cores, arguments.clock_hz,
                                    use, arguments.memory);
}

bench::SweepPlan plan(const bench::Backend& backend, const Arguments& arguments) {
    auto sweep = bench::make_sweep(
        backend, {.patterns = bench::split_patterns(arguments.request.instructions),
                  .quick = arguments.request.quick,
                  .pairs = arguments.request.pairs});
    return arguments.point.empty() ? sweep : bench::only_point(std::move(sweep), arguments.point);
}

void dump(Arguments& arguments) {
    arguments.dump.overwrite = arguments.overwrite();
    const auto backend = open_backend(arguments);
    const bench::SweepPlan sweep = plan(*backend, arguments);
    // Where it is missing, that is said once and not for every kernel.
    if (!arguments.architecture.empty()) bench::nvrtc();
    dump_measurement(*backend, sweep, arguments.dump);
}

void import(Arguments& arguments) {
    arguments.import.output = arguments.request.output;
    arguments.import.overwrite = arguments.overwrite();
    import_measurement(arguments.import);
}

void finish(const Arguments& arguments) {
    const auto closed =
        bench::close_journal(arguments.unfinished, arguments.request.output, arguments.overwrite());
    fmt::print(stderr, "{} of {} points are in {}\n", closed.measured, closed.planned,
               closed.output.string());
}

void compile_only(const Arguments& arguments) {
    if (arguments.architecture.empty()) {
        throw InputError("--compile-only: --arch says for which GPUs: sm_75, sm_90, …");
    }
    const auto backend =
        bench::open_architecture(arguments.architecture, arguments.cores, arguments.clock_hz,
                                 bench::KernelUse::launched, arguments.memory);
    compile_kernels(*backend, plan(*backend, arguments),
                    {.output = arguments.request.output,
                     .overwrite = arguments.overwrite(),
                     .receipts = arguments.request.receipts});
}

void measure(Arguments& arguments) {
    if (!arguments.architecture.empty()) {
        throw InputError(
            "--arch names no device: it goes with --compile-only, --dump or --dry-run");
    }
    arguments.request.overwrite = arguments.overwrite();
    const auto backend = analysis::open_named_device(arguments.device, arguments.kernels);
    if (!measure_sweep(*backend, plan(*backend, arguments), arguments.request))
        throw std::runtime_error("interrupted");
}

void add_carry_options(CLI::App* command, Arguments& arguments) {
    CLI::Option* architecture = command->add_option(
        "--arch", arguments.architecture,
        "with --compile-only or --device cuda: GPUs of this architecture (sm_75, sm_90, …);\n"
        "none need be there");
    command->add_option("--cores", arguments.cores, "with --arch: number of cores")
        ->needs(architecture)
        ->check(CLI::PositiveNumber);
    command->add_option("--clock-hz", arguments.clock_hz, "with --arch: the core clock")
        ->needs(architecture)
        ->check(CLI::PositiveNumber);
    command
        ->add_option("--l2-bytes", arguments.memory.l2_bytes,
                     "with --arch: the second-level cache, which sets the sizes of tables")
        ->needs(architecture)
        ->check(CLI::PositiveNumber);
    command
        ->add_option("--memory-bytes", arguments.memory.bytes,
                     "with --arch: global memory, of which a table takes a quarter at most")
        ->needs(architecture)
        ->check(CLI::PositiveNumber);
    CLI::Option* compile =
        command
            ->add_flag("--compile-only", arguments.compile_only,
                       "instead of measuring, compile all kernels into a tar archive that\n"
                       "--kernels takes, on all cores")
            ->needs(architecture);
    CLI::Option* kernels =
        command->add_option("--kernels", arguments.kernels, analysis::kernels_help)
            ->excludes(architecture);
    CLI::Option* dump =
        command->add_option("--dump", arguments.dump.folder,
                            "instead of measuring, write kernels and a table of launches for\n"
                            "others to run (docs/carry.md)");
    command->add_option("--repetitions", arguments.dump.repetitions, "with --dump: of each launch")
        ->needs(dump)
        ->check(CLI::Range(1, 1000));
    CLI::Option* import = command->add_option(
        "--import", arguments.import.launches,
        "instead of measuring, take the cycles that others filled in: FOLDER/launches.csv");
    dump->excludes(compile)->excludes(kernels);
    import->excludes(dump)->excludes(architecture)->excludes(kernels);
    command
        ->add_flag("--partial", arguments.import.partial,
                   "with --import: leave out launches without cycles")
        ->needs(import);
}

// One line per block of the order, and their sum.
void print_blocks(const bench::Backend& backend, const Arguments& arguments) {
    const auto blocks =
        bench::estimate(backend.facts(), plan(backend, arguments),
                        arguments.kernels.empty() ? bench::KernelsAre::compiled_here
                                                  : bench::KernelsAre::brought_along);
    const auto print = [](const bench::BlockEstimate& block) {
        fmt::print("{:48} {:7} {:7} {:>7}\n", block.name, block.points, block.kernels,
                   block.seconds ? fmt::format("{:.0f}", std::ceil(*block.seconds)) : "-");
    };
    fmt::print("{:48} {:>7} {:>7} {:>7}\n", "block", "points", "kernels", "seconds");
    bench::BlockEstimate total{.name = "total"};
    for (const auto& block : blocks) {
        print(block);
        total.points += block.points;
        total.kernels += block.kernels;
        if (block.seconds) total.seconds = total.seconds.value_or(0) + *block.seconds;
    }
    print(total);
}

void print_plan(const bench::Backend& backend, const Arguments& arguments) {
    const auto sweep = plan(backend, arguments);
    for (const auto& point : sweep.points) fmt::print("{}\n", point.name());
    for (const auto& skipped : sweep.skipped) {
        fmt::print(stderr, "not measured: {}: {}\n", skipped.subject, skipped.reason);
    }
    fmt::print(stderr, "{} points, {} repetitions each\n", sweep.points.size(), sweep.repetitions);
    if (backend.facts().cpu || backend.facts().model) return;
    fmt::print(
        stderr,
        "--plan estimates the time; more repetitions where a point is not yet known well, while "
        "the run stays within {:g} s\n",
        arguments.request.budget_seconds.value_or(default_budget_seconds(arguments.request.quick)));
}

}  // namespace

void add_measure(CLI::App& app) {
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand(
        "measure", "Measure instructions over occupancy; write Google Benchmark's JSON");
    command->add_option("--device", arguments->device, analysis::device_help);
    command->add_option("--instructions", arguments->request.instructions,
                        "comma-separated names or patterns, e.g. 'fma.*,ld.shared.u32,\n"
                        "mix(fma.f32*8,cos.approx.f32)'; default: everything the device can do");
    command->add_flag("--quick", arguments->request.quick, "fewer shapes and repetitions");
    command
        ->add_option("--budget", arguments->request.budget_seconds,
                     "seconds; points are repeated beyond the least number only while the whole\n"
                     "run stays within (default 170 with --quick, else 1700)")
        ->check(CLI::PositiveNumber);
    command
        ->add_option(
            "--hang-limit", arguments->request.hang_seconds,
            "seconds without an answer after which a GPU hangs (default 20): its point is\n"
            "given up, and the program ends with exit code 5")
        ->check(CLI::PositiveNumber);
    command->add_flag("--pairs", arguments->request.pairs,
                      "also mix every two of the chosen instructions (of a representative list\n"
                      "without --instructions): which of them share a subsystem");
    command->add_flag("--dry-run", arguments->dry_run, "print the points that would be measured");
    command->add_flag("--plan", arguments->plan,
                      "print how many points and kernels there are, in the order of measuring,\n"
                      "and how many seconds they should take a GPU (never calibrated on one)");
    command->add_option("--point", arguments->point,
                        "this point alone, by its name as --dry-run prints it");
    command->add_option("--receipts", arguments->request.receipts,
                        "folder for one text per kernel: what proves what is in its timed loop");
    auto* output = command->add_option("-o,--output", arguments->request.output,
                                       "FILE.json to write; with --compile-only, FILE.tar");
    add_carry_options(command, *arguments);
    command->add_flag("--force", arguments->force, "replace an existing file");
    command->add_option("--finish", arguments->unfinished,
                        "instead of measuring, make an ordinary file of an interrupted\n"
                        "measurement's FILE.partial, without a device; with -o, beside it");
    command->add_option("flags", arguments->request.benchmark_flags,
                        "after --: flags for Google Benchmark, e.g. -- --benchmark_filter=fma");
    command->footer(
        "An interrupted run (Ctrl-C, power cut) loses at most the point under way: the same "
        "command\n"
        "goes on from FILE.json.partial. Likewise --compile-only, from FILE.tar.partial.");
    command->callback([arguments, output] {
        if (!arguments->unfinished.empty()) return finish(*arguments);
        if (arguments->dry_run) return print_plan(*open_backend(*arguments), *arguments);
        if (arguments->plan) {
            return print_blocks(*open_backend(*arguments, bench::KernelUse::launched), *arguments);
        }
        if (!arguments->dump.folder.empty()) return dump(*arguments);
        if (output->count() == 0) throw CLI::RequiredError("--output");
        if (arguments->compile_only) return compile_only(*arguments);
        if (!arguments->import.launches.empty()) return import(*arguments);
        measure(*arguments);
    });
}

}  // namespace occupipe::cli
