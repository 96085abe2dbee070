// SPDX-License-Identifier: MIT
#include "cli/execution_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>

#include "cli/console.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/reported.h"
#include "cli/run_limit.h"
#include "core/architectures.h"
#include "core/error.h"
#include "sim/engine/run_progress.h"

namespace occupipe::cli {
namespace {

// What the user set against endless work, and how far it has come.
class Watch {
public:
    explicit Watch(const std::string& limit) {
        if (!limit.empty()) limit_ = parse_limit(limit, "warp-instructions");
    }

    std::uint64_t steps() const { return static_cast<std::uint64_t>(limit_.count.value_or(0)); }

    bool go_on(const extract::PlanProgress& progress) {
        const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
        last_ = progress;
        if (StopOnSignal::stopped()) return false;
        if (limit_.seconds && elapsed > *limit_.seconds) {
            late_ = true;
            return false;
        }
        if (line_.due(elapsed)) line_.show(elapsed, where());
        return true;
    }

    // "launch 2 of 11 (heat), 12 of 256 groups, 1.2e+08 warp-instructions"
    std::string where() const {
        return fmt::format("launch {} of {} ({}), {} of {} groups, {:.3g} warp-instructions",
                           std::min(last_.launches_done + 1, last_.launches), last_.launches,
                           last_.kernel.empty() ? "none yet" : last_.kernel,
                           last_.launch.groups_done, last_.launch.groups,
                           static_cast<double>(last_.warp_instructions));
    }

    bool late() const { return late_; }
    const std::string limit_text() const {
        return limit_.seconds ? fmt::format("{:g} s", *limit_.seconds)
                              : fmt::format("{} warp-instructions", steps());
    }

    void end_line() const { line_.end(); }

private:
    using Clock = std::chrono::steady_clock;

    StopOnSignal stop_;
    Clock::time_point start_ = Clock::now();
    Limit limit_;
    ProgressLine line_;
    bool late_ = false;
    extract::PlanProgress last_;
};

}  // namespace

void add_launch_options(const Command& command, ExecutionRequest& request,
                        const std::string& kernel_help, const std::string& heading) {
    const auto add = [&](const char* name, auto& value, const std::string& help) {
        return command.add_option(name, value, help).group(heading);
    };
    add("--launch", request.launch, "Launch file (YAML): buffers and launches").type_name("FILE");
    if (!command.has_option("--arch"))  // `measure` has its own
        add("--arch", request.architecture,
            "What to compile source for, or which code of a file that holds several:\n" +
                architectures_in_words() + ", or 90a")
            .type_name("sm_NN");
    add("--compiler option|--compiler-option", request.compiler_options,
        "Handed on to NVRTC, nvcc, ptxas or (OpenCL C) clang, such as -fmad=false, -DN=4 or\n"
        "-Iinclude (these two also alone); may be repeated. Line numbers, CUDA's headers, the\n"
        "source's own folder and what compile_commands.json says are there without it")
        .type_name("OPTION")
        .one_value_each();
    add("--compiler clang|--clang", request.clang,
        "The clang for OpenCL C (default: clang-19, else another on the path)")
        .type_name("PROGRAM");
    add("--kernel", request.kernel, kernel_help).type_name("NAME");
    add("--grid", request.grid, "Groups of the launch, such as 4096 or 64,64")
        .type_name("X[,Y[,Z]]");
    add("--block", request.block, "Threads of a group, such as 256 or 16,16")
        .type_name("X[,Y[,Z]]");
    add("--shared-bytes", request.shared_bytes, "Dynamic shared memory of a group")
        .check(in_range(std::uint32_t{0}, most_shared_bytes))
        .type_name("BYTES");
    add("--args", request.arguments, "Arguments, separated by blanks (see below)")
        .type_name("ARGUMENTS");
}

void add_execution_options(const Command& command, ExecutionRequest& request,
                           const std::string& kernel_help) {
    command
        .add_option(
            "kernels", request.kernels,
            "CUDA (.cu, .cuh), OpenCL C (.cl), PTX (.ptx) or machine code (.cubin, or what holds\n"
            "some: a fat binary, host object, executable, library); default: the launch file's\n"
            "'source'")
        .type_name("KERNELS");
    add_launch_options(command, request, kernel_help);
    command
        .add_option("--threads", request.threads,
                    "Threads of this machine (default: all cores); the result is the same")
        .check(in_range(1, 4096))
        .type_name("N");
    command
        .add_option("--limit", request.limit,
                    "Give up (exit code 4) after so many warp-instructions (1000000) or seconds "
                    "(60s);\nwithout it, only a kernel that spins is stopped")
        .type_name("N|Ns");
}

analysis::KernelFile read_kernels(const ExecutionRequest& request, const LaunchPlan& plan) {
    analysis::KernelFile file = analysis::read_kernels(request, plan, nullptr);
    if (!file.note.empty()) fmt::print(stderr, "occupipe: note: {}\n", file.note);
    return file;
}

std::vector<extract::LaunchResult> run_watched(extract::PlanRun& run,
                                               const ExecutionRequest& request,
                                               extract::PlanOptions options) {
    Watch watch(request.limit);
    options.threads = request.threads;
    options.step_budget = watch.steps();
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

}  // namespace occupipe::cli
