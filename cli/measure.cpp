// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>

#include "analysis/device/open_device.h"
#include "ask/shipped_files.h"
#include "bench/cuda/driver/nvrtc.h"
#include "bench/harness/journal.h"
#include "bench/kernel/estimate.h"
#include "bench/kernel/sweep.h"
#include "bench/offline/architecture.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/kernels_in_request.h"
#include "cli/measure_carry.h"
#include "cli/measure_device.h"
#include "cli/measure_for.h"
#include "cli/options.h"
#include "cli/reported.h"
#include "core/error.h"

namespace occupipe::cli {
namespace {

struct Arguments {
    std::string device;
    MeasureRequest request;
    bool force = false;
    bool dry_run = false;
    bool plan = false;
    bool rates = false;
    bool intensity = false;
    std::string point;
    std::string architecture;
    std::optional<int> cores;
    std::optional<double> clock_hz;
    bench::ArchitectureMemory memory;
    std::string nvrtc;
    bool compile_only = false;
    std::filesystem::path kernels;
    DumpRequest dump;
    ImportRequest import;
    std::string unfinished;
    KernelsInRequest for_kernel;
    std::string profile;
    std::filesystem::path extended;

    Overwrite overwrite() const { return force ? Overwrite::yes : Overwrite::no; }
};

// --finish may name the journal or the file that it belongs to.
void keep_inputs(const Arguments& arguments) {
    const std::filesystem::path& table = arguments.import.launches;
    const std::filesystem::path& output = arguments.request.output;
    const std::filesystem::path& folder = arguments.dump.folder;
    std::vector<NamedPath> inputs = device_inputs(arguments.device, arguments.kernels);
    inputs.push_back({"--import", table});
    if (!table.empty()) {
        inputs.push_back({"--import", table.parent_path() / "context.json"});
        inputs.push_back({"--import", table.parent_path() / "stamps.csv"});
    }
    if (!arguments.unfinished.empty()) {
        const std::filesystem::path named = arguments.unfinished;
        inputs.push_back({"--finish", named.extension() == ".partial"
                                          ? named
                                          : bench::Journal::path_for(named)});
    }
    if (const std::string& kernel = arguments.for_kernel.execution.kernels; !kernel.empty()) {
        inputs.push_back({"--for", analysis::names_kernels(kernel)
                                       ? std::filesystem::path(kernel)
                                       : analysis::shipped_kernel(kernel)});
        inputs.push_back({"--launch", arguments.for_kernel.execution.launch});
        inputs.push_back({"--profile", analysis::shipped_profile(arguments.profile)});
    }
    std::vector<NamedPath> outputs = {{"--output", output},
                                      {"--extended", arguments.extended},
                                      receipts_output(arguments.request.receipts)};
    if (!folder.empty()) {
        for (const char* name : {"launches.csv", "context.json"})
            outputs.push_back({"--dump", folder / name});
        outputs.push_back({"--dump", folder / "kernels", {".cu", ".ptx", ".cubin", ".cl", ".txt"}});
    }
    keep_apart(inputs, outputs);
}

std::unique_ptr<bench::Backend> open_backend(const Arguments& arguments,
                                             bench::KernelUse use = bench::KernelUse::carried) {
    if (arguments.architecture.empty()) {
        return analysis::open_named_device(arguments.device, arguments.kernels);
    }
    if (arguments.device != "cuda") {
        throw InputError(
            "--arch compiles for an architecture without a device: it needs --device cuda");
    }
    return bench::open_architecture(arguments.architecture, arguments.cores, arguments.clock_hz,
                                    use, arguments.memory);
}

bench::SweepPlan plan(const bench::Backend& backend, const Arguments& arguments) {
    auto sweep = bench::make_sweep(
        backend, {.patterns = bench::split_patterns(arguments.request.instructions),
                  .quick = arguments.request.quick,
                  .pairs = arguments.request.pairs,
                  .rates = arguments.rates,
                  .intensity = arguments.intensity});
    return arguments.point.empty() ? sweep : bench::only_point(std::move(sweep), arguments.point);
}

void dump(Arguments& arguments) {
    arguments.dump.overwrite = arguments.overwrite();
    const auto backend = open_backend(arguments);
    const bench::SweepPlan sweep = plan(*backend, arguments);
    // If NVRTC is missing or too new, this says so once instead of for every kernel.
    if (!arguments.architecture.empty()) bench::nvrtc().require(arguments.architecture);
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
        throw InputError("--compile-only needs --arch: sm_75, sm_90, …");
    }
    bench::nvrtc().require(arguments.architecture);
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
            "--arch names no device to measure; add --compile-only, --dump or --dry-run");
    }
    arguments.request.overwrite = arguments.overwrite();
    const auto backend = analysis::open_named_device(arguments.device, arguments.kernels);
    if (!measure_sweep(*backend, plan(*backend, arguments), arguments.request))
        throw std::runtime_error("interrupted");
}

void add_carry_options(const Command& command, Arguments& arguments) {
    const Option architecture =
        command
            .add_option("--arch", arguments.architecture,
                        "With --compile-only or --device cuda: architecture to compile for "
                        "(sm_75, sm_90, …);\n"
                        "no such GPU is needed")
            .type_name("sm_NN");
    command
        .add_option("--compiler nvrtc|--nvrtc", arguments.nvrtc,
                    "NVRTC to compile CUDA kernels with: a path, or none (default: what\n"
                    "OCCUPIPE_NVRTC names, else what is found; docs/background/cuda.md)")
        .type_name("FILE");
    command.add_option("--given cores|--cores", arguments.cores, "With --arch: number of cores")
        .needs(architecture)
        .check(positive_number())
        .type_name("N");
    command.add_option("--given clock_hz|--clock-hz", arguments.clock_hz, "With --arch: core clock")
        .needs(architecture)
        .check(positive_number())
        .type_name("HZ");
    command
        .add_option("--given l2_bytes|--l2-bytes", arguments.memory.l2_bytes,
                    "With --arch: size of the second-level cache, which sets table sizes")
        .needs(architecture)
        .check(positive_number())
        .type_name("N");
    command
        .add_option("--given memory_bytes|--memory-bytes", arguments.memory.bytes,
                    "With --arch: size of global memory; a table takes a quarter at most")
        .needs(architecture)
        .check(positive_number())
        .type_name("N");
    const Option compile =
        command
            .add_flag(
                "--compile-only", arguments.compile_only,
                "Instead of measuring, compile all kernels into a tar archive for --kernels,\n"
                "on all cores")
            .needs(architecture);
    const Option kernels =
        command.add_option("--kernels", arguments.kernels, analysis::kernels_help)
            .excludes(architecture)
            .type_name("PATH");
    const Option dump =
        command
            .add_option(
                "--dump", arguments.dump.folder,
                "Instead of measuring, write kernels and a table of launches to this folder,\n"
                "for others to run (docs/how-to/measure-elsewhere.md)")
            .type_name("FOLDER");
    command
        .add_option("--repetitions", arguments.dump.repetitions,
                    "With --dump: repetitions of each launch")
        .needs(dump)
        .check(in_range(1, 1000))
        .type_name("N");
    command
        .add_flag("--dump placement|--placement", arguments.dump.placement,
                  "With --dump: warps also write the core and slot that they run on, for a runner\n"
                  "that knows %smid and %warpid")
        .needs(dump);
    const Option import =
        command
            .add_option(
                "--import", arguments.import.launches,
                "Instead of measuring, read the cycles that others filled in: FOLDER/launches.csv")
            .type_name("FILE.csv");
    dump.excludes(compile).excludes(kernels);
    import.excludes(dump).excludes(architecture).excludes(kernels);
    command
        .add_flag("--import partial|--partial", arguments.import.partial,
                  "With --import: leave out launches without cycles")
        .needs(import);
}

// A line per block of points, in the order of measuring, and their sum.
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
    say_skipped(backend, sweep);
    fmt::print(stderr, "{} points, {} repetitions each\n", sweep.points.size(), sweep.repetitions);
    if (backend.facts().cpu || backend.facts().model) return;
    fmt::print(
        stderr,
        "--dry-run plan estimates the time; points not yet known well are repeated while the run "
        "stays "
        "within {:g} s\n",
        arguments.request.budget_seconds.value_or(default_budget_seconds(arguments.request.quick)));
}

#if OCCUPIPE_FIT
// Chooses the rows, and says what the device cannot measure. False: the profile lacks nothing.
bool choose_rows_for(Arguments& arguments, const Kernel& kernel, const GpuProfile& profile) {
    const auto backend = open_backend(arguments);
    std::vector<std::string> names;
    const auto rows = missing_rows(*backend, kernel, profile, arguments.request.quick);
    for (const MissingRow& row : rows) {
        if (row.why_not.empty())
            names.push_back(row.op);
        else
            fmt::print(stderr, "cannot be measured: {}: {}\n", row.op, row.why_not);
    }
    if (rows.empty()) {
        fmt::print("{} has all that {} needs: nothing to measure\n", arguments.profile,
                   arguments.for_kernel.execution.kernels);
        return false;
    }
    if (names.empty())
        throw NothingToRunOn(fmt::format("{} measures nothing of what {} lacks for {}",
                                         backend->facts().id, arguments.profile,
                                         arguments.for_kernel.execution.kernels));
    arguments.request.instructions = fmt::format("{}", fmt::join(names, ","));
    return true;
}

Kernel kernel_of(const KernelsInRequest& request, const GpuProfile& profile) {
    return *analysis::read_source(request.source(), profile, false, reading_of(request.execution))
                .kernel;
}

// Before anything is measured; CPUs are called otherwise in measurements, and compared after it.
void require_same_device(const Arguments& arguments, const GpuProfile& profile) {
    const auto backend = open_backend(arguments);
    const bench::DeviceFacts& facts = backend->facts();
    // What a profile's own model is called as a device.
    const bool same = facts.name == profile.device.name ||
                      (facts.model && facts.name == profile.device.name + " (model)");
    const auto refuse = [&](const char* what, int of_profile, int of_device) {
        throw InputError(
            fmt::format("--profile {}: has {} {}, and {} has {}: their numbers do not go together",
                        arguments.profile, of_profile, what, facts.id, of_device));
    };
    if (facts.cpu) return;
    if (same && facts.cores > 0 && facts.cores != profile.cores)
        refuse("cores", profile.cores, facts.cores);
    if (same && facts.warp_size > 0 && facts.warp_size != profile.warp_size)
        refuse("lanes a warp", profile.warp_size, facts.warp_size);
    if (same) return;
    throw InputError(
        fmt::format("--profile {}: is of {}, and {} is {}: their numbers do not go together",
                    arguments.profile, profile.device.name, facts.id, facts.name));
}

void measure_for(Arguments& arguments) {
    if (!arguments.request.instructions.empty() || arguments.request.pairs || arguments.rates ||
        arguments.intensity)
        throw InputError(
            "--for chooses the instructions itself; leave --instructions, --pairs, --rates and "
            "--intensity out");
    const GpuProfile profile = analysis::named_profile(arguments.profile);
    require_same_device(arguments, profile);
    const Kernel kernel = kernel_of(arguments.for_kernel, profile);
    if (!choose_rows_for(arguments, kernel, profile)) return;
    if (arguments.dry_run) return print_plan(*open_backend(arguments), arguments);
    if (arguments.plan)
        return print_blocks(*open_backend(arguments, bench::KernelUse::launched), arguments);
    if (arguments.extended.empty())
        throw InputError("--for: --extended PROFILE.yaml says where the longer profile goes");
    if (!arguments.force && std::filesystem::exists(arguments.extended))
        throw InputError(arguments.extended.string(), SourcePosition{}, "",
                         "exists; --force replaces it");
    if (arguments.request.output.empty()) {
        arguments.request.output = arguments.extended;
        arguments.request.output.replace_extension(".json");
        keep_inputs(arguments);
    }
    measure(arguments);
    if (!extend_profile_file(kernel, profile, arguments.request.output, arguments.extended,
                             arguments.overwrite()))
        throw Reported(exit_failed);
}

void add_for_options(const Command& command, Arguments& arguments, const Option finish) {
    const Option kernel =
        command
            .add_option("--for", arguments.for_kernel.execution.kernels,
                        "Measure what a prediction of this kernel needs and --profile lacks, and\n"
                        "nothing else; the longer profile goes to --extended, the measurement to\n"
                        "-o (default: beside it, .json)")
            .type_name("KERNEL");
    const Option profile =
        command
            .add_option("--profile", arguments.profile,
                        "With --for: the profile of this device, a file or a shipped name")
            .needs(kernel)
            .type_name("PROFILE");
    command
        .add_option("--extended", arguments.extended,
                    "With --for: PROFILE.yaml to write, with what was measured")
        .needs(kernel)
        .type_name("PROFILE.yaml");
    kernel.needs(profile).excludes(finish);
    for (const char* other : {"--dump", "--import", "--compile-only", "--arch", "--point"})
        kernel.excludes(command.option(other));
    add_kernels_in_options(command, arguments.for_kernel);
}
#endif

}  // namespace

void add_measure(const Command& app) {
    auto arguments = std::make_shared<Arguments>();
    const Command command = app.subcommand(
        "measure", "Measure instructions over occupancy, and write Google Benchmark's JSON");
    command.add_option("--device", arguments->device, analysis::device_help).type_name("DEVICE");
    command
        .add_option("--instructions", arguments->request.instructions,
                    "Names or patterns, separated by commas, such as\n"
                    "'fma.*,ld.shared.u32,mix(fma.f32*8,cos.approx.f32)'\n"
                    "(default: all that the device supports)")
        .check(instruction_list())
        .type_name("LIST");
    command.add_flag("--quick", arguments->request.quick, "Fewer launch shapes and repetitions");
    command
        .add_option("--limit budget|--budget", arguments->request.budget_seconds,
                    "Seconds that the run may take for repetitions beyond the minimum\n"
                    "(default: 170 with --quick, else 1700)")
        .check(positive_number())
        .type_name("SECONDS");
    command
        .add_option(
            "--limit hang|--hang-limit", arguments->request.hang_seconds,
            "Seconds without an answer after which a point is given up and the program ends\n"
            "with exit code 5 (default: 20)")
        .check(positive_number())
        .type_name("SECONDS");
    command.add_flag("--pairs", arguments->request.pairs,
                     "Also mix every two of the chosen instructions (without --instructions: of a\n"
                     "representative list), to see which of them share a subsystem");
    command.add_flag("--rates", arguments->rates,
                     "Also measure at full occupancy, each by itself, what a device's rates come\n"
                     "from (fma.f32 … ld.global.f32); without --instructions, these alone");
    command.add_flag("--intensity", arguments->intensity,
                     "Measure mixes of multiply-adds and streaming loads over operations per\n"
                     "byte, and --rates: what 'predict --counts --intensity' draws");
    command.add_flag("--dry-run", arguments->dry_run, "Print the points that would be measured");
    command.add_flag("--dry-run plan|--plan", arguments->plan,
                     "Print the numbers of points and kernels, in the order of measuring, and an\n"
                     "estimate of the seconds on a GPU (not calibrated on one)");
    command
        .add_option("--point", arguments->point,
                    "Measure only this point, named as --dry-run prints it")
        .type_name("NAME");
    command
        .add_option(
            "--receipts", arguments->request.receipts,
            "Folder for receipts: a text per kernel with the instructions in its timed loop")
        .type_name("FOLDER");
    const Option output = command
                              .add_option("-o,--output", arguments->request.output,
                                          "FILE.json to write; FILE.tar with --compile-only")
                              .type_name("FILE");
    add_carry_options(command, *arguments);
    command.add_flag("--force", arguments->force, "Replace an existing file");
    const Option unfinished =
        command
            .add_option("--finish", arguments->unfinished,
                        "Instead of measuring, turn the FILE.partial of an interrupted run into a\n"
                        "measurement file (-o: another name); needs no device")
            .type_name("FILE.partial");
#if OCCUPIPE_FIT
    add_for_options(command, *arguments, unfinished);
#else
    static_cast<void>(unfinished);
#endif
    command
        .add_option("flags", arguments->request.benchmark_flags,
                    "Flags for Google Benchmark, after --, such as -- --benchmark_filter=fma")
        .type_name("FLAG");
    add_help_end(
        command,
        {.text =
             "Output: FILE.json (-o) for 'occupipe fit'; progress on stderr.\n"
             "An interrupted run (Ctrl-C, power cut) loses at most the point under way: run the "
             "same\n"
             "command again to go on from FILE.json.partial (--compile-only: FILE.tar.partial).",
         .exit_codes = {exit_nothing_to_run_on, exit_device_lost},
         .examples =
             "occupipe measure --quick -o gpu.json\n"
             "occupipe measure --device 'model:profiles/nvidia-gtx-1060.yaml?noise=0.02' \\\n"
             "    --instructions 'fma.*' -o simulated.json\n"
             "occupipe measure --for saxpy.yaml --profile gpu.yaml --extended gpu-more.yaml\n"
             "occupipe measure --device cuda --arch sm_90 --quick --dry-run plan"});
    command.show_first({"--device", "--instructions", "--quick", "-o,--output", "--force",
                        "--dry-run", "--dry-run plan", "--for", "--profile", "--extended",
                        "--receipts", "--kernels"});
    command.callback([arguments, output] {
        keep_inputs(*arguments);
        if (!arguments->nvrtc.empty()) ::setenv("OCCUPIPE_NVRTC", arguments->nvrtc.c_str(), 1);
        if (!arguments->unfinished.empty()) return finish(*arguments);
#if OCCUPIPE_FIT
        if (!arguments->for_kernel.execution.kernels.empty()) return measure_for(*arguments);
        if (analysis::describes_launch(arguments->for_kernel.source()))
            throw InputError(
                "a launch says what '--for KERNEL' is to be measured for: --launch, --grid, "
                "--block, --args and their like go with it");
#endif
        if (arguments->dry_run) return print_plan(*open_backend(*arguments), *arguments);
        if (arguments->plan) {
            return print_blocks(*open_backend(*arguments, bench::KernelUse::launched), *arguments);
        }
        if (!arguments->dump.folder.empty()) return dump(*arguments);
        if (!output.given()) throw MissingOption("--output");
        if (arguments->compile_only) return compile_only(*arguments);
        if (!arguments->import.launches.empty()) return import(*arguments);
        measure(*arguments);
    });
}

}  // namespace occupipe::cli
