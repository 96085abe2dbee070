// SPDX-License-Identifier: MIT
#include "cli/measure_carry.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>

#include "bench/harness/harness.h"
#include "bench/offline/compile_ahead.h"
#include "bench/offline/dump.h"
#include "cli/console.h"
#include "cli/measure_device.h"

namespace occupipe::cli {
namespace {

// Called as "12/345 kernels" goes on.
std::function<void(std::size_t, std::size_t)> progress_line() {
    return [terminal = isatty(STDERR_FILENO) != 0](std::size_t done, std::size_t total) {
        const bool last = done == total;
        if (!terminal && !last && done % 50 != 0) return;
        fmt::print(stderr, "{}{:5}/{} kernels{}", terminal ? "\r\033[K" : "", done, total,
                   terminal && !last ? "" : "\n");
    };
}

}  // namespace

void compile_kernels(const bench::Backend& backend, const bench::SweepPlan& sweep,
                     const CompileRequest& request) {
    const StopOnSignal guard;
    const auto begin = std::chrono::steady_clock::now();
    const auto result = bench::compile_ahead(backend.facts(), sweep,
                                             {.output = request.output,
                                              .overwrite = request.overwrite,
                                              .version = OCCUPIPE_VERSION,
                                              .threads = std::thread::hardware_concurrency(),
                                              .progress = progress_line(),
                                              .receipt = receipt_writer(request.receipts),
                                              .stop = &StopOnSignal::stopped()});
    if (!result.complete) {
        fmt::print(
            stderr,
            "\ninterrupted: what was compiled is in {}.partial; run the same command again to "
            "go on\n",
            request.output.string());
        throw std::runtime_error("interrupted");
    }
    for (const auto& refused : result.refused) {
        fmt::print(stderr, "refused: {}: {}\n", refused.subject, refused.reason);
    }
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    fmt::print(stderr, "{} kernels for {} in {} ({:.1f} MB), {:.0f} s; {} refused{}\n",
               result.kernels, backend.facts().id, request.output.string(),
               static_cast<double>(std::filesystem::file_size(request.output)) * 1e-6,
               taken.count(), result.refused.size(),
               result.resumed > 0
                   ? fmt::format("; {} were compiled by an interrupted run", result.resumed)
                   : std::string());
}

void dump_measurement(bench::Backend& backend, const bench::SweepPlan& sweep,
                      const DumpRequest& request) {
    const auto result = bench::dump_sweep(backend, sweep,
                                          {.folder = request.folder,
                                           .overwrite = request.overwrite,
                                           .repetitions = request.repetitions,
                                           .placement = request.placement,
                                           .progress = progress_line()});
    const bench::DeviceFacts& facts = backend.facts();
    nlohmann::ordered_json context = nlohmann::ordered_json::object();
    for (const auto& [key, value] : bench::device_context(facts)) context[key] = value;
    if (facts.nominal_clock_hz)
        context["clock_hz"] = fmt::format("{:.0f}", *facts.nominal_clock_hz);
    context["origin"] = fmt::format(
        "kernels dumped by occupipe {} for {}; run by another program, which filled in the cycles",
        OCCUPIPE_VERSION, facts.id);
    context["launches"] = std::to_string(result.launches);
    for (const auto& skipped : sweep.skipped) {
        context["not_measured." + skipped.subject] = skipped.reason;
    }
    for (const auto& skipped : result.skipped) {
        context["not_measured." + skipped.subject] = skipped.reason;
        fmt::print(stderr, "not dumped: {}: {}\n", skipped.subject, skipped.reason);
    }
    write_text_file(request.folder / "context.json", context.dump(2) + "\n", request.overwrite);
    fmt::print(stderr, "{} kernels and {} launches in {}\n", result.kernels, result.launches,
               request.folder.string());
}

}  // namespace occupipe::cli
