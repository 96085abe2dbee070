// SPDX-License-Identifier: MIT
#include "cli/measure_match.h"

#include <fmt/format.h>

#include <cstdio>

#include "bench/cpu/host.h"
#include "bench/cpu/measure_host.h"
#include "bench/harness/journal.h"
#include "cli/console.h"
#include "core/error.h"

namespace occupipe::cli {
namespace {

bench::Host host_at(const std::string& device) {
    if (device.empty()) return bench::host_of("cpu");
    if (device == "cpu" || device.starts_with("cpu:")) return bench::host_of(device);
    throw InputError(fmt::format(
        "--match: --device is cpu, or a part of it such as cpu:0-3, and not '{}': what AutoMatch "
        "asks of other devices is not measured yet (docs/match.md)",
        device));
}

}  // namespace

bool measure_match(const std::string& device, const MeasureRequest& request) {
    if (!request.instructions.empty() || request.pairs || !request.receipts.empty() ||
        !request.benchmark_flags.empty())
        throw InputError(
            "--match measures no instructions; leave --instructions, --pairs, --receipts and "
            "Google Benchmark's flags out");
    const bench::Host host = host_at(device);
    fmt::print(stderr, "cpu: {}, {} cores\n", host.name, host.cores.size());
    const StopOnSignal guard;
    const bench::HostResult result = bench::measure_host(
        host, {.output = request.output,
               .overwrite = request.overwrite,
               .quick = request.quick,
               .progress =
                   [](std::size_t done, std::size_t points, const std::string& name) {
                       fmt::print(stderr, "{:3} of {}: {}\n", done + 1, points, name);
                   },
               .stop = &StopOnSignal::stopped(),
               .version = OCCUPIPE_VERSION});
    if (result.disturbed > 0)
        fmt::print(stderr,
                   "occupipe: the machine is busy: {} of {} points have few repetitions that had "
                   "their processors to themselves\n",
                   result.disturbed, result.points);
    if (!result.complete)
        fmt::print(stderr,
                   "interrupted: what was measured is in {}; run the same command again to go on\n",
                   bench::Journal::path_for(request.output).string());
    return result.complete;
}

void print_match_points(const std::string& device, bool quick) {
    for (const bench::HostPoint& point : bench::host_points(host_at(device), quick))
        fmt::print("{}\n", point.name);
}

}  // namespace occupipe::cli
