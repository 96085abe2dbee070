// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_codes.h"
#include "cli/kernel_file.h"
#include "cli/options.h"
#include "cli/reported.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/files/launch_files.h"
#include "core/suggestions.h"
#include "extract/launch_template.h"
#include "extract/run_plan.h"
#include "extract/signature.h"
#include "report/text/execution.h"
#include "sim/engine/run_progress.h"

namespace occupipe::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* about =
    "Input: CUDA kernels, as source (.cu, compiled with NVRTC), PTX (.ptx, with ptxas) or machine\n"
    "code (.cubin), and how a host program would launch them: a launch file, or one launch on the\n"
    "command line. No GPU is needed: the machine code is executed on this machine's processor.\n"
    "Output: executed instructions by opcode, unit and source line, memory sectors, bank passes,\n"
    "divergence, and what the buffers hold then. Exit code 1: a buffer differs from its file.\n"
    "Arguments: NAME=TYPE[COUNT]:PATTERN makes a buffer (zeros, ones, iota, value(V), "
    "random(A,B),\n"
    "integers(A,B), permutation, values(…), file(PATH)), NAME passes it again, NAME+BYTES behind\n"
    "its begin; 2.5 and 7 are of the parameter's type, f32:2.5 and u64:7 say it, bytes:00ff are a\n"
    "struct's. docs/executing.md is a walk through it.";

constexpr const char* examples =
    "occupipe execute saxpy.cu --arch sm_90 --template\n"
    "occupipe execute saxpy.cu --arch sm_90 --launch saxpy.yaml\n"
    "occupipe execute saxpy.cu --arch sm_90 --grid 4 --block 256 \\\n"
    "    --args 'x=f32[1000]:random(-1,1) y=f32[1000]:iota 2.5 1000' --output y=y.bin\n"
    "occupipe execute saxpy.cubin --launch saxpy.yaml --check-against y=y.bin --disassembly";

struct Request {
    std::string kernels;
    std::string launch;
    std::string architecture;
    std::vector<std::string> compiler_options;
    std::string kernel;
    std::string grid, block;
    std::uint32_t shared_bytes = 0;
    std::string arguments;
    int threads = 0;
    std::string limit;
    std::vector<std::string> against;
    double absolute = 0, relative = 0;
    std::vector<std::string> outputs;
    std::string json;
    bool disassembly = false;
    bool without_memory = false;
    bool make_template = false;
    bool force = false;
};

// "NAME=FILE"; the name is empty where there is none.
struct NamedFile {
    std::string name;
    std::string file;
};

NamedFile named_file(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) return {{}, text};
    return {text.substr(0, equals), text.substr(equals + 1)};
}

const BufferPlan& buffer_of(const LaunchPlan& plan, const std::string& option,
                            const std::string& name) {
    if (const BufferPlan* found = plan.find_buffer(name)) return *found;
    std::vector<std::string> names;
    for (const BufferPlan& one : plan.buffers) names.push_back(one.name);
    throw InputError(
        fmt::format("{}: no buffer '{}'{}; there {} {}", option, name, near_text(name, names),
                    names.size() == 1 ? "is" : "are",
                    names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
}

// "4096", "64,64", "64x64x2"
std::array<std::uint32_t, 3> extents(const std::string& option, const std::string& text,
                                     const std::array<std::uint32_t, 3>& most) {
    std::array<std::uint32_t, 3> result = {1, 1, 1};
    std::size_t place = 0;
    const char* at = text.data();
    const char* const end = at + text.size();
    for (;;) {
        std::uint32_t value = 0;
        const auto [next, fault] = std::from_chars(at, end, value);
        if (place == 3 || fault != std::errc() || value < 1)
            throw InputError(fmt::format(
                "{} {}: expected one to three whole numbers of at least 1, such as 4096 or 64,64",
                option, text));
        if (value > most[place])
            throw InputError(fmt::format("{} {}: {} is at most {}", option, text,
                                         std::string_view("xyz").substr(place, 1), most[place]));
        result[place++] = value;
        if (next == end) return result;
        if (*next != ',' && *next != 'x')
            throw InputError(fmt::format(
                "{} {}: expected one to three whole numbers of at least 1, such as 4096 or 64,64",
                option, text));
        at = next + 1;
    }
}

LaunchPlan plan_of(const Request& request) {
    const bool on_command_line = !request.grid.empty() || !request.block.empty() ||
                                 !request.arguments.empty() || request.shared_bytes != 0;
    if (!request.launch.empty()) {
        if (on_command_line)
            throw InputError(
                "--grid, --block, --shared-bytes and --args describe a launch "
                "themselves; leave --launch out, or them");
        return read_launches(request.launch);
    }
    if (request.grid.empty() || request.block.empty())
        throw InputError(
            "how is it launched? --launch FILE, or --grid and --block (and --args); "
            "--template prints a launch file to begin with");
    LaunchPlan plan;
    KernelLaunch launch;
    launch.kernel = request.kernel;
    launch.grid = extents("--grid", request.grid, most_grid);
    launch.block = extents("--block", request.block, most_block);
    const std::uint64_t threads =
        std::uint64_t{launch.block[0]} * launch.block[1] * launch.block[2];
    if (threads > most_group_threads)
        throw InputError(fmt::format("--block {}: {} threads; a group has at most {}",
                                     request.block, threads, most_group_threads));
    launch.shared_bytes = request.shared_bytes;
    try {
        launch.arguments = parse_arguments(request.arguments, plan);
    } catch (const InputError& error) {
        throw InputError(fmt::format("--args: {}", error.what()));
    }
    for (const BufferPlan& buffer : plan.buffers) {
        BufferCheck check;
        check.buffer = buffer.name;
        plan.checks.push_back(check);
    }
    plan.steps.emplace_back(std::move(launch));
    return plan;
}

// --check-against takes the place of what the file says about this buffer.
void add_comparisons(const Request& request, LaunchPlan& plan) {
    for (const std::string& text : request.against) {
        NamedFile given = named_file(text);
        if (given.name.empty()) {
            if (plan.checks.size() != 1)
                throw InputError(fmt::format("--check-against {}: which buffer? write NAME={}",
                                             given.file, given.file));
            given.name = plan.checks.front().buffer;
        }
        if (given.file.empty())
            throw InputError(fmt::format("--check-against {}: a file is missing", text));
        buffer_of(plan, "--check-against " + text, given.name);
        BufferCheck check;
        check.buffer = given.name;
        check.against = given.file;
        check.absolute = request.absolute;
        check.relative = request.relative;
        const auto found = std::ranges::find(plan.checks, given.name, &BufferCheck::buffer);
        if (found != plan.checks.end())
            *found = check;
        else
            plan.checks.push_back(check);
    }
}

std::vector<NamedFile> output_files(const Request& request, const LaunchPlan& plan) {
    std::vector<NamedFile> outputs;
    for (const std::string& text : request.outputs) {
        const NamedFile output = named_file(text);
        if (output.name.empty() || output.file.empty())
            throw InputError(fmt::format("--output {}: expected NAME=FILE", text));
        buffer_of(plan, "--output " + text, output.name);
        outputs.push_back(output);
    }
    return outputs;
}

void look_at_paths(const Request& request, const std::string& kernels, const LaunchPlan& plan,
                   const std::vector<NamedFile>& outputs) {
    std::vector<NamedPath> inputs = {{"KERNELS", kernels}, {"--launch", request.launch}};
    for (const BufferPlan& buffer : plan.buffers)
        inputs.push_back({"buffer " + buffer.name, buffer.fill.path});
    for (const BufferCheck& check : plan.checks) inputs.push_back({"the check", check.against});
    std::vector<NamedPath> written = {{"--json", request.json == "-" ? "" : request.json}};
    for (const NamedFile& output : outputs) written.push_back({"--output", output.file});
    keep_apart(inputs, written);
    if (request.force) return;
    for (const NamedPath& path : written)
        if (!path.path.empty() && fs::exists(path.path))
            throw InputError(fmt::format("{} {}: exists already; --force replaces it", path.name,
                                         path.path.string()));
}

// What the user set against endless work, and how far it has come.
class Watch {
public:
    explicit Watch(const std::string& limit) : terminal_(isatty(STDERR_FILENO) != 0) {
        if (limit.empty()) return;
        const std::string_view text = limit;
        const auto read = [](std::string_view digits, auto& value) {
            const auto [end, fault] =
                std::from_chars(digits.data(), digits.data() + digits.size(), value);
            return fault == std::errc() && end == digits.data() + digits.size() && value > 0;
        };
        double seconds = 0;
        if (text.ends_with('s') && read(text.substr(0, text.size() - 1), seconds) &&
            std::isfinite(seconds))
            seconds_ = seconds;
        else if (text.ends_with('s') || !read(text, steps_))
            throw InputError(
                fmt::format("--limit {}: expected a positive number of "
                            "warp-instructions, such as 1000000, or of seconds, such "
                            "as 60s",
                            limit));
    }

    std::uint64_t steps() const { return steps_; }

    bool go_on(const extract::PlanProgress& progress) {
        const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
        last_ = progress;
        if (StopOnSignal::stopped()) return false;
        if (seconds_ && elapsed > *seconds_) {
            late_ = true;
            return false;
        }
        if (elapsed < next_line_) return true;
        next_line_ = elapsed + (terminal_ ? 0.5 : 10);
        fmt::print(stderr, "{}{:.0f} s: {}{}", terminal_ ? "\r\033[K" : "", elapsed, where(),
                   terminal_ ? "" : "\n");
        std::fflush(stderr);
        shown_ = true;
        return true;
    }

    // "launch 2 of 11 (heat), 12 of 256 groups, 1.2e+08 warp-instructions"
    std::string where() const {
        return fmt::format("launch {} of {} ({}), {} of {} groups, {:.3g} warp-instructions",
                           last_.launches_done + 1, last_.launches, last_.kernel,
                           last_.launch.groups_done, last_.launch.groups,
                           static_cast<double>(last_.warp_instructions));
    }

    bool late() const { return late_; }
    const std::string limit_text() const {
        return seconds_ ? fmt::format("{:g} s", *seconds_)
                        : fmt::format("{} warp-instructions", steps_);
    }

    void end_line() const {
        if (shown_ && terminal_) fmt::print(stderr, "\r\033[K");
    }

private:
    using Clock = std::chrono::steady_clock;

    StopOnSignal stop_;
    Clock::time_point start_ = Clock::now();
    std::optional<double> seconds_;
    std::uint64_t steps_ = 0;
    double next_line_ = 2;
    bool terminal_ = false;
    bool shown_ = false;
    bool late_ = false;
    extract::PlanProgress last_;
};

std::vector<extract::LaunchResult> run_all(extract::PlanRun& run, const Request& request) {
    Watch watch(request.limit);
    extract::PlanOptions options;
    options.threads = request.threads;
    options.step_budget = watch.steps();
    options.measure_memory = !request.without_memory;
    options.progress = [&](const extract::PlanProgress& progress) { return watch.go_on(progress); };
    try {
        auto results = run.execute(options);
        watch.end_line();
        return results;
    } catch (const isa::Stopped&) {
        watch.end_line();
        if (!watch.late()) throw Interrupted("interrupted: " + watch.where());
        fmt::print(stderr, "occupipe: no end after {} (--limit): {}\n", watch.limit_text(),
                   watch.where());
        throw Reported(exit_limit_reached);
    } catch (const isa::BudgetReached& error) {
        watch.end_line();
        fmt::print(stderr, "occupipe: {} (--limit)\n", error.what());
        throw Reported(exit_limit_reached);
    }
}

// Before anything is executed, which may take long.
void look_at_checks(const Request& request, const LaunchPlan& plan) {
    if (request.against.empty() && (request.absolute > 0 || request.relative > 0))
        throw InputError("--absolute and --relative are tolerances of --check-against");
    for (const BufferCheck& check : plan.checks) {
        if (check.against.empty()) continue;
        std::error_code error;
        const auto size = fs::file_size(check.against, error);
        if (error)
            throw InputError(fmt::format("{}: cannot read: {}", check.against, error.message()));
        const BufferPlan& buffer = *plan.find_buffer(check.buffer);
        if (size != buffer.bytes())
            throw InputError(fmt::format("{}: {} bytes to compare buffer '{}' with, which has {}",
                                         check.against, size, buffer.name, buffer.bytes()));
    }
}

report::ExecutedBuffer checked(const extract::PlanRun& run, const LaunchPlan& plan,
                               const BufferCheck& check) {
    report::ExecutedBuffer result;
    result.buffer = *plan.find_buffer(check.buffer);
    const auto bytes = run.bytes(check.buffer);
    result.summary = extract::summary(result.buffer, bytes);
    if (check.against.empty()) return result;
    result.against = check.against;
    result.absolute = check.absolute;
    result.relative = check.relative;
    const std::string expected = read_text_file(check.against);
    try {
        result.comparison = extract::compare(
            result.buffer, bytes, std::as_bytes(std::span(expected.data(), expected.size())),
            check.absolute, check.relative);
    } catch (const InputError& error) {
        throw InputError(fmt::format("{}: {}", check.against, error.what()));
    }
    return result;
}

void print_template(const KernelFile& file, const Request& request) {
    std::vector<const isa::Kernel*> kernels;
    if (request.kernel.empty())
        for (const isa::Kernel& one : file.cubin.kernels) kernels.push_back(&one);
    else
        kernels.push_back(&extract::find_kernel(file.cubin, request.kernel));
    if (kernels.empty()) throw InputError(file.path + ": there is no kernel in it");
    fmt::print("{}", extract::launch_template(file.cubin, kernels, file.ptx,
                                              fs::path(file.path).filename().string()));
}

void execute(const Request& request) {
    LaunchPlan plan;
    if (!request.make_template) plan = plan_of(request);
    const std::string kernels = request.kernels.empty() ? plan.source : request.kernels;
    if (kernels.empty())
        throw InputError(
            "which kernels? name a .cu, .ptx or .cubin file, or a launch file with "
            "'source'");
    add_comparisons(request, plan);
    look_at_checks(request, plan);
    const std::vector<NamedFile> outputs = output_files(request, plan);
    look_at_paths(request, kernels, plan, outputs);

    const KernelFile file = read_kernel_file(
        kernels, request.architecture.empty() ? plan.architecture : request.architecture,
        request.compiler_options.empty() ? plan.compiler_options : request.compiler_options);
    if (request.make_template) {
        print_template(file, request);
        return;
    }
    std::string only;
    if (!request.kernel.empty()) only = extract::find_kernel(file.cubin, request.kernel).name;

    extract::PlanRun run(plan, file.cubin, file.ptx);
    report::ExecutionReport report;
    report.kernels = file.path;
    report.architecture = *file.cubin.architecture;
    report.compiler = file.compiler;
    report.options = file.options;
    for (const auto& [kernel, reasons] : run.not_executed()) {
        report.notes.push_back(fmt::format("{}: not executed yet, an error if it is reached: {}",
                                           kernel, fmt::join(reasons, ", ")));
        fmt::print(stderr, "occupipe: note: {}\n", report.notes.back());
    }
    report.launches = run_all(run, request);
    if (!only.empty())
        std::erase_if(report.launches, [&](const extract::LaunchResult& launch) {
            return launch.kernel->name != only;
        });
    bool agrees = true;
    for (const BufferCheck& check : plan.checks) {
        report.buffers.push_back(checked(run, plan, check));
        const auto& comparison = report.buffers.back().comparison;
        agrees = agrees && (!comparison || comparison->agrees());
    }
    const Overwrite overwrite = request.force ? Overwrite::yes : Overwrite::no;
    for (const NamedFile& output : outputs) {
        const auto bytes = run.bytes(output.name);
        write_text_file(output.file, {reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                        overwrite);
    }
    if (request.json == "-") {
        fmt::print("{}", report::to_json(report));
    } else {
        if (!request.json.empty())
            write_text_file(request.json, report::to_json(report), overwrite);
        fmt::print("{}", report::to_text(report, request.disassembly));
    }
    if (agrees) return;
    fmt::print(stderr, "occupipe: a buffer differs from what was expected\n");
    throw Reported(exit_failed);
}

}  // namespace

void add_execute(CLI::App& app) {
    const auto request = std::make_shared<Request>();
    CLI::App* const command = app.add_subcommand(
        "execute", "Execute CUDA kernels' machine code on this machine, and count what they do");
    add_help_end(*command, {.text = about,
                            .exit_codes = {exit_limit_reached, exit_interrupted},
                            .examples = examples});
    command
        ->add_option("kernels", request->kernels,
                     "CUDA source (.cu), PTX (.ptx) or machine code (.cubin); default: the launch\n"
                     "file's 'source'")
        ->type_name("KERNELS");
    command->add_option("--launch", request->launch, "Launch file (YAML): buffers and launches")
        ->type_name("FILE");
    command
        ->add_option("--arch", request->architecture,
                     "What to compile source for: sm_75, 80, 86, 89, 90, 90a, 100, 120")
        ->type_name("sm_NN");
    command
        ->add_option("--compiler-option", request->compiler_options,
                     "Handed on to NVRTC or ptxas, such as -fmad=false; may be repeated. Line\n"
                     "numbers, CUDA's headers and the source's own folder are there without it")
        ->type_name("OPTION")
        ->allow_extra_args(false);
    command
        ->add_option("--kernel", request->kernel,
                     "Which kernel; with --launch: everything runs, this one alone is printed")
        ->type_name("NAME");
    command->add_option("--grid", request->grid, "Groups of the launch, such as 4096 or 64,64")
        ->type_name("X[,Y[,Z]]");
    command->add_option("--block", request->block, "Threads of a group, such as 256 or 16,16")
        ->type_name("X[,Y[,Z]]");
    command->add_option("--shared-bytes", request->shared_bytes, "Dynamic shared memory of a group")
        ->check(CLI::Range(std::uint32_t{0}, most_shared_bytes))
        ->type_name("BYTES");
    command->add_option("--args", request->arguments, "Arguments, separated by blanks (see below)")
        ->type_name("ARGUMENTS");
    command
        ->add_option("--threads", request->threads,
                     "Threads of this machine (default: all cores); the result is the same")
        ->check(CLI::Range(1, 4096))
        ->type_name("N");
    command
        ->add_option("--limit", request->limit,
                     "Give up (exit code 4) after so many warp-instructions (1000000) or seconds "
                     "(60s);\nwithout it, only a kernel that spins is stopped")
        ->type_name("N|Ns");
    command
        ->add_option("--check-against", request->against,
                     "Compare a buffer with a file of raw elements; NAME= may be left out where\n"
                     "the launch file checks one buffer; may be repeated")
        ->type_name("[NAME=]FILE")
        ->allow_extra_args(false);
    command
        ->add_option("--absolute", request->absolute,
                     "Tolerance of --check-against: |found - expected| <= A + R |expected|")
        ->check(number_not_negative())
        ->type_name("A");
    command->add_option("--relative", request->relative, "The same, relative")
        ->check(number_not_negative())
        ->type_name("R");
    command
        ->add_option("--output", request->outputs,
                     "Write a buffer's raw elements after execution; may be repeated")
        ->type_name("NAME=FILE")
        ->allow_extra_args(false);
    command
        ->add_option("--json", request->json,
                     "Write counts, memory and checks as JSON; - prints it instead of the text")
        ->type_name("FILE");
    command->add_flag("--disassembly", request->disassembly,
                      "Print the machine code with what each instruction did");
    command->add_flag("--no-memory", request->without_memory, "Do not measure sectors and passes");
    command->add_flag("--template", request->make_template,
                      "Print a launch file to begin with, and execute nothing");
    command->add_flag("--force", request->force, "Replace files that exist");
    command->callback([request] { execute(*request); });
}

}  // namespace occupipe::cli
