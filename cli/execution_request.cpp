// SPDX-License-Identifier: MIT
#include "cli/execution_request.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>

#include "ask/launch_text.h"
#include "cli/console.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/reported.h"
#include "core/architectures.h"
#include "core/error.h"
#include "core/files/launch_files.h"
#include "sim/engine/run_progress.h"

namespace occupipe::cli {
namespace {

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
                           std::min(last_.launches_done + 1, last_.launches), last_.launches,
                           last_.kernel.empty() ? "none yet" : last_.kernel,
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

}  // namespace

void add_launch_options(const Command& command, ExecutionRequest& request,
                        const std::string& kernel_help, const std::string& heading) {
    const auto add = [&](const char* name, auto& value, const std::string& help) {
        return command.add_option(name, value, help).group(heading);
    };
    add("--launch", request.launch, "Launch file (YAML): buffers and launches").type_name("FILE");
    if (!command.has_option("--arch"))  // `measure` has its own
        add("--arch", request.architecture,
            "What to compile source for: " + architectures_in_words() + ", or 90a")
            .type_name("sm_NN");
    add("--compiler option|--compiler-option", request.compiler_options,
        "Handed on to NVRTC, ptxas or (OpenCL C) clang, such as -fmad=false; may be\n"
        "repeated. Line numbers, CUDA's headers and the source's own folder are there\n"
        "without it")
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
            "CUDA (.cu), OpenCL C (.cl), PTX (.ptx) or machine code (.cubin); default: the\n"
            "launch file's 'source'")
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

bool tells_launch(const ExecutionRequest& request) {
    return !request.launch.empty() || !request.architecture.empty() ||
           !request.compiler_options.empty() || !request.kernel.empty() || !request.grid.empty() ||
           !request.block.empty() || request.shared_bytes != 0 || !request.arguments.empty() ||
           !request.clang.empty();
}

namespace {

const std::string* first_kernel(const std::vector<PlanStep>& steps) {
    for (const PlanStep& step : steps) {
        if (const auto* launch = std::get_if<KernelLaunch>(&step)) return &launch->kernel;
        if (const auto* repeat = std::get_if<RepeatSteps>(&step))
            if (const std::string* found = first_kernel(repeat->steps)) return found;
    }
    return nullptr;
}

// How many launches of the kernel were changed.
int change_launches(std::vector<PlanStep>& steps, const std::string& kernel,
                    const ExecutionRequest& request) {
    int changed = 0;
    for (PlanStep& step : steps) {
        if (auto* repeat = std::get_if<RepeatSteps>(&step))
            changed += change_launches(repeat->steps, kernel, request);
        auto* launch = std::get_if<KernelLaunch>(&step);
        if (launch == nullptr || launch->kernel != kernel) continue;
        if (!request.grid.empty())
            launch->grid = analysis::extents("--grid", request.grid, most_grid);
        if (!request.block.empty())
            launch->block = analysis::extents("--block", request.block, most_block);
        analysis::require_group(launch->block, request.block);
        if (request.changed_shared_bytes) launch->shared_bytes = *request.changed_shared_bytes;
        ++changed;
    }
    return changed;
}

LaunchPlan changed_plan(const ExecutionRequest& request) {
    LaunchPlan plan = read_launches(request.launch);
    std::string kernel = request.kernel;
    if (const std::string* const first = first_kernel(plan.steps); first && kernel.empty())
        kernel = *first;
    if (change_launches(plan.steps, kernel, request) == 0)
        throw InputError(
            fmt::format("{}: launches no '{}', which is to be changed", request.launch, kernel));
    return plan;
}

}  // namespace

LaunchPlan plan_of(const ExecutionRequest& request) {
    const bool on_command_line = !request.grid.empty() || !request.block.empty() ||
                                 !request.arguments.empty() || request.shared_bytes != 0;
    if (!request.launch.empty()) {
        if (request.changes_launches) return changed_plan(request);
        if (on_command_line)
            throw InputError(
                "--grid, --block, --shared-bytes and --args describe a launch "
                "themselves; leave --launch out, or them");
        return read_launches(request.launch);
    }
    if (request.grid.empty() || request.block.empty())
        throw InputError(
            fmt::format("how is it launched? --launch FILE, or --grid and --block (and --args); "
                        "'occupipe execute {} --template' prints a launch file to begin with",
                        request.kernels.empty() ? "KERNELS" : request.kernels));
    return analysis::described_launch({.kernel = request.kernel,
                                       .grid = request.grid,
                                       .block = request.block,
                                       .arguments = request.arguments,
                                       .shared_bytes = request.shared_bytes});
}

std::string kernels_of(const ExecutionRequest& request, const LaunchPlan& plan) {
    const std::string& kernels = request.kernels.empty() ? plan.source : request.kernels;
    if (kernels.empty())
        throw InputError(
            "which kernels? name a .cu, .cl, .ptx or .cubin file, or a launch file with "
            "'source'");
    return kernels;
}

analysis::KernelFile read_kernels(const ExecutionRequest& request, const LaunchPlan& plan) {
    analysis::KernelFile file = analysis::read_kernel_file(
        kernels_of(request, plan),
        request.architecture.empty() ? plan.architecture : request.architecture,
        request.compiler_options.empty() ? plan.compiler_options : request.compiler_options,
        request.clang);
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
