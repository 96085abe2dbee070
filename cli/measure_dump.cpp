// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "bench/harness/harness.h"
#include "bench/offline/dump.h"
#include "cli/measure_carry.h"

namespace occupipe::cli {

void dump_measurement(bench::Backend& backend, const bench::SweepPlan& sweep,
                      const DumpRequest& request) {
    const bool terminal = isatty(STDERR_FILENO) != 0;
    const auto progress = [terminal](std::size_t done, std::size_t total) {
        const bool last = done == total;
        if (!terminal && !last && done % 50 != 0) return;
        fmt::print(stderr, "{}{:5}/{} kernels{}", terminal ? "\r\033[K" : "", done, total,
                   terminal && !last ? "" : "\n");
    };
    const auto result = bench::dump_sweep(backend, sweep,
                                          {.folder = request.folder,
                                           .overwrite = request.overwrite,
                                           .repetitions = request.repetitions,
                                           .progress = progress});
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
