// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/execution_request.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/reported.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/suggestions.h"
#include "extract/launch_template.h"
#include "extract/run_plan.h"
#include "extract/signature.h"
#include "report/text/execution.h"

namespace occupipe::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* about =
    "Input: kernels in CUDA (.cu, compiled with NVRTC), OpenCL C (.cl, with clang and ptxas), PTX\n"
    "(.ptx, with ptxas) or machine code (.cubin), and how a host program would launch them: a\n"
    "launch file, or one launch on the command line. No GPU is needed: the machine code is "
    "executed on this machine's processor.\n"
    "Output: executed instructions by opcode, unit and source line, memory sectors, bank passes,\n"
    "divergence, and what the buffers hold then. Exit code 1: a buffer differs from its file.\n"
    "Arguments: NAME=TYPE[COUNT]:PATTERN makes a buffer (zeros, ones, iota, value(V), "
    "random(A,B),\n"
    "integers(A,B), permutation, values(…), file(PATH)), NAME passes it again, NAME+BYTES behind\n"
    "its begin; 2.5 and 7 are of the parameter's type, f32:2.5 and u64:7 say it, bytes:00ff are a\n"
    "struct's. docs/how-to/execute-kernel.md is a walk through it.";

constexpr const char* examples =
    "occupipe execute saxpy.cu --arch sm_90 --template\n"
    "occupipe execute saxpy.cu --arch sm_90 --launch saxpy.yaml\n"
    "occupipe execute saxpy.cu --arch sm_90 --grid 4 --block 256 \\\n"
    "    --args 'x=f32[1000]:random(-1,1) y=f32[1000]:iota 2.5 1000' --output y=y.bin\n"
    "occupipe execute saxpy.cubin --launch saxpy.yaml --check-against y=y.bin --disassemble";

struct Request {
    ExecutionRequest execution;
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
    std::vector<NamedPath> inputs = {{"KERNELS", kernels}, {"--launch", request.execution.launch}};
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

// Before anything is executed, which may take long.
void look_at_checks(const Request& request, const LaunchPlan& plan) {
    if (request.against.empty() && (request.absolute > 0 || request.relative > 0))
        throw InputError("--tolerance is of --check-against, which is missing");
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

void print_template(const analysis::KernelFile& file, const Request& request) {
    std::vector<const isa::Kernel*> kernels;
    if (request.execution.kernel.empty())
        for (const isa::Kernel& one : file.cubin.kernels) {
            if (!one.is_function) kernels.push_back(&one);
        }
    else
        kernels.push_back(&extract::find_kernel(file.cubin, request.execution.kernel));
    if (kernels.empty()) throw InputError(file.path + ": there is no kernel in it");
    fmt::print("{}", extract::launch_template(file.cubin, kernels, file.ptx,
                                              fs::path(file.path).filename().string()));
}

// With --kernel: that kernel's alone.
std::vector<extract::LaunchResult> printed(std::vector<extract::LaunchResult> launches,
                                           const std::string& only) {
    if (!only.empty())
        std::erase_if(launches, [&](const extract::LaunchResult& launch) {
            return launch.kernel->name != only;
        });
    return launches;
}

void print(const report::ExecutionReport& report, const Request& request) {
    if (request.json == "-") {
        fmt::print("{}", report::to_json(report));
        return;
    }
    if (!request.json.empty())
        write_text_file(request.json, report::to_json(report),
                        request.force ? Overwrite::yes : Overwrite::no);
    fmt::print("{}", report::to_text(report, request.disassembly));
}

// The launches that ended before the one that could not.
void print_unfinished(extract::PlanRun& run, report::ExecutionReport& report,
                      const Request& request, const std::string& only) {
    extract::PlanRun::Unfinished left = run.unfinished();
    if (left.finished.empty()) return;
    report.launches = printed(std::move(left.finished), only);
    report.ended_early = fmt::format(
        "not executed to its end: launch {} of {}; nothing after it was executed, and buffers are "
        "not shown, for it may have changed some of them",
        left.number, left.launches);
    print(report, request);
    std::fflush(stdout);
}

void warn_of_races(report::ExecutionReport& report) {
    constexpr std::size_t most = 4;
    for (const extract::LaunchResult& launch : report.launches) {
        std::size_t told = 0;
        for (const extract::Race& race : launch.races) {
            std::string text = fmt::format("{}: {}", extract::readable_name(launch.kernel->name),
                                           extract::to_text(race, *launch.kernel));
            if (++told == most && launch.races.size() > most)
                text += fmt::format("; and {} more such pairs", launch.races.size() - most);
            fmt::print(stderr, "occupipe: warning: {}\n", text);
            report.notes.push_back(std::move(text));
            if (told == most) break;
        }
    }
}

void execute(const Request& request) {
    LaunchPlan plan;
    if (!request.make_template) plan = plan_of(request.execution);
    const std::string kernels = kernels_of(request.execution, plan);
    add_comparisons(request, plan);
    look_at_checks(request, plan);
    const std::vector<NamedFile> outputs = output_files(request, plan);
    look_at_paths(request, kernels, plan, outputs);

    const analysis::KernelFile file = read_kernels(request.execution, plan);
    if (request.make_template) {
        print_template(file, request);
        return;
    }
    std::string only;
    if (!request.execution.kernel.empty())
        only = extract::find_kernel(file.cubin, request.execution.kernel).name;

    extract::PlanRun run(plan, file.cubin, file.ptx);
    report::ExecutionReport report;
    report.kernels = file.path;
    report.architecture = *file.cubin.architecture;
    report.compiler = file.compiler;
    report.options = file.options;
    if (!file.note.empty()) report.notes.push_back(file.note);
    for (const auto& [kernel, reasons] : run.not_executed()) {
        report.notes.push_back(fmt::format("{}: not executed yet, an error if it is reached: {}",
                                           kernel, fmt::join(reasons, ", ")));
        fmt::print(stderr, "occupipe: note: {}\n", report.notes.back());
    }
    try {
        report.launches = printed(
            run_watched(run, request.execution, {.measure_memory = !request.without_memory}), only);
    } catch (...) {
        print_unfinished(run, report, request, only);
        throw;
    }
    warn_of_races(report);
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
    print(report, request);
    if (agrees) return;
    std::fflush(stdout);
    fmt::print(stderr, "occupipe: a buffer differs from what was expected\n");
    throw Reported(exit_failed);
}

}  // namespace

void add_execute(const Command& app) {
    const auto request = std::make_shared<Request>();
    const Command command = app.subcommand(
        "execute", "Execute kernels' machine code on this machine, and count what they do");
    add_help_end(command, {.text = about,
                           .exit_codes = {exit_limit_reached, exit_interrupted},
                           .examples = examples});
    add_execution_options(
        command, request->execution,
        "Which kernel; with --launch: everything runs, this one alone is printed");
    command
        .add_option("--check-against", request->against,
                    "Compare a buffer with a file of raw elements; NAME= may be left out where\n"
                    "the launch file checks one buffer; may be repeated")
        .type_name("[NAME=]FILE")
        .one_value_each();
    command
        .add_option("--tolerance absolute|--absolute", request->absolute,
                    "Tolerance of --check-against: |found - expected| <= A + R |expected|")
        .check(number_not_negative())
        .type_name("A");
    command.add_option("--tolerance relative|--relative", request->relative, "The same, relative")
        .check(number_not_negative())
        .type_name("R");
    command
        .add_option("--output", request->outputs,
                    "Write a buffer's raw elements after execution; may be repeated")
        .type_name("NAME=FILE")
        .one_value_each();
    command
        .add_option("--json", request->json,
                    "Write counts, memory and checks as JSON; - prints it instead of the text")
        .type_name("FILE");
    command.add_flag("--disassemble|--disassembly", request->disassembly,
                     "Print the machine code with what each instruction did");
    command.add_flag("--memory none|--no-memory", request->without_memory,
                     "Do not measure sectors and passes");
    command.add_flag("--template", request->make_template,
                     "Print a launch file to begin with, and execute nothing");
    command.add_flag("--force", request->force, "Replace files that exist");
    command.show_first({"--launch", "--grid", "--block", "--args", "--arch", "--kernel",
                        "--check-against", "--json", "--disassemble", "--template"});
    command.callback([request] { execute(*request); });
}

}  // namespace occupipe::cli
