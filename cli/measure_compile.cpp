// SPDX-License-Identifier: MIT
#include "cli/measure_compile.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <thread>

#include "bench/offline/compile_ahead.h"
#include "cli/console.h"
#include "cli/measure_device.h"

namespace occupipe::cli {

void compile_kernels(const bench::Backend& backend, const bench::SweepPlan& sweep,
                     const CompileRequest& request) {
    const bool terminal = isatty(STDERR_FILENO) != 0;
    const auto progress = [terminal](std::size_t done, std::size_t total) {
        const bool last = done == total;
        if (!terminal && !last && done % 50 != 0) return;
        fmt::print(stderr, "{}{:5}/{} kernels{}", terminal ? "\r\033[K" : "", done, total,
                   terminal && !last ? "" : "\n");
    };
    const StopOnSignal guard;
    const auto begin = std::chrono::steady_clock::now();
    const auto result = bench::compile_ahead(backend.facts(), sweep,
                                             {.output = request.output,
                                              .overwrite = request.overwrite,
                                              .version = OCCUPIPE_VERSION,
                                              .threads = std::thread::hardware_concurrency(),
                                              .progress = progress,
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

}  // namespace occupipe::cli
