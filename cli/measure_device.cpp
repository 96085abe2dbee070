// SPDX-License-Identifier: MIT
#include "cli/measure_device.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "analysis/device/open_device.h"
#include "bench/harness/harness.h"
#include "bench/harness/journal.h"
#include "bench/kernel/sweep.h"
#include "bench/offline/kernel_name.h"
#include "cli/console.h"
#include "cli/exit_codes.h"
#include "core/error.h"

namespace occupipe::cli {

void add_device_options(const Command& command, DeviceRun& run, const char* force) {
    command.add_option("--device", run.device, analysis::device_help).type_name("DEVICE");
    command.add_option("--kernels", run.kernels, analysis::kernels_help).type_name("PATH");
    command.add_option("--receipts", run.request.receipts, "As for measure").type_name("FOLDER");
    command.add_flag("--force", run.force, force);
}

std::vector<NamedPath> device_inputs(const std::string& device,
                                     const std::filesystem::path& kernels) {
    return {device_file(device), {"--kernels", kernels}};
}

NamedPath receipts_output(const std::filesystem::path& folder) {
    return {.name = "--receipts", .path = folder, .fills = {".txt"}};
}

void require_measured_on(const MeasurementFile& file, const bench::DeviceFacts& facts) {
    const auto told = [&](const char* key) {
        const auto at = file.context.find(key);
        return at == file.context.end() ? std::string() : at->second;
    };
    const std::string device = told("device");
    const std::string name = told("device_name");
    if (device == facts.id && name == facts.name) return;
    throw InputError(fmt::format(
        "{}: was measured on {} ({}), and --device is {} ({}); choose another folder, or "
        "--force measures again",
        file.path, device, name, facts.id, facts.name));
}

std::function<void(const bench::KernelPlan&, const std::string&)> receipt_writer(
    const std::filesystem::path& folder) {
    if (folder.empty()) return {};
    std::filesystem::create_directories(folder);
    return [folder](const bench::KernelPlan& plan, const std::string& text) {
        write_text_file(folder / (bench::kernel_name(plan) + ".txt"), text, Overwrite::yes);
    };
}

namespace {

void say(const std::string& text) { fmt::print(stderr, "\noccupipe: {}\n", text); }

// Returning from main() would call the driver again, which may wait for the device forever.
[[noreturn]] void leave_the_device(const std::string& reason) {
    const bool stopped = StopOnSignal::stopped();
    say(fmt::format("{}; run the same command again to go on", reason));
    std::fflush(stdout);
    std::fflush(stderr);
    std::_Exit(stopped ? exit_failed : exit_device_lost);
}

}  // namespace

bool measure_device(bench::Backend& backend, const MeasureRequest& request) {
    const auto sweep =
        bench::make_sweep(backend, {.patterns = bench::split_patterns(request.instructions),
                                    .quick = request.quick,
                                    .pairs = request.pairs});
    return measure_sweep(backend, sweep, request);
}

void say_skipped(const bench::Backend& backend, const bench::SweepPlan& sweep) {
    constexpr std::size_t most_lines = 12;  // more would hide what the run says first
    if (sweep.skipped.size() > most_lines) {
        fmt::print(stderr,
                   "not measured: {} instructions that {} cannot run; 'occupipe list instructions "
                   "--device {}' says why, and so does the file's context\n",
                   sweep.skipped.size(), backend.facts().id, backend.facts().id);
        return;
    }
    for (const auto& skipped : sweep.skipped)
        fmt::print(stderr, "not measured: {}: {}\n", skipped.subject, skipped.reason);
}

bool measure_sweep(bench::Backend& backend, const bench::SweepPlan& sweep,
                   const MeasureRequest& request) {
    if (sweep.points.empty() && !sweep.skipped.empty()) {
        const auto& first = sweep.skipped.front();
        throw NothingToRunOn(fmt::format("{} supports none of these instructions; {}: {}",
                                         backend.facts().id, first.subject, first.reason));
    }
    const double budget = request.budget_seconds.value_or(default_budget_seconds(request.quick));
    const auto begin = [&](std::size_t points, std::size_t resumed) {
        const bench::DeviceFacts& facts = backend.facts();
        fmt::print(stderr, "{}: {} ({}){}\n", facts.id, facts.name, facts.driver,
                   facts.model ? " -- A MODEL, NOT HARDWARE" : "");
        say_skipped(backend, sweep);
        fmt::print(stderr, "{} points with {} repetitions each, and more within {:g} s, into {}\n",
                   points, sweep.repetitions, budget, request.output.string());
        if (resumed > 0)
            fmt::print(stderr, "{} of them were measured by an interrupted run\n", resumed);
    };
    const StopOnSignal guard;
    const auto receipt = receipt_writer(request.receipts);
    const auto result = bench::run_sweep(backend, sweep,
                                         {.output = request.output,
                                          .overwrite = request.overwrite,
                                          .benchmark_flags = request.benchmark_flags,
                                          .context = {{"occupipe_version", OCCUPIPE_VERSION}},
                                          .begin = begin,
                                          .progress = progress_printer(),
                                          .receipt = receipt,
                                          .budget_seconds = budget,
                                          .stop = &StopOnSignal::stopped(),
                                          .hang_seconds = request.hang_seconds,
                                          .leave = leave_the_device,
                                          .note = say});
    if (result.failed > 0) {
        fmt::print(stderr, "{} points failed; their rows in the file say why\n", result.failed);
    }
    const std::string journal = bench::Journal::path_for(request.output).string();
    if (result.lost) {
        say(*result.lost);
        if (!result.complete) leave_the_device(fmt::format("what was measured is in {}", journal));
    } else if (!result.complete) {
        fmt::print(
            stderr,
            "\ninterrupted: what was measured is in {}; run the same command again to go on\n",
            journal);
    }
    return result.complete;
}

}  // namespace occupipe::cli
