// SPDX-License-Identifier: MIT
#include "cli/measure_match.h"

#include <fmt/format.h>

#include <cstdio>

#include "bench/cpu/host.h"
#include "bench/cpu/measure_host.h"
#include "bench/harness/journal.h"
#include "bench/match/measure_device.h"
#include "cli/console.h"
#include "core/error.h"

namespace occupipe::cli {
namespace {

bool is_cpu(const std::string& device) {
    return device.empty() || device == "cpu" || device.starts_with("cpu:");
}
bench::Host host_at(const std::string& device) {
    return bench::host_of(device.empty() ? "cpu" : device);
}

void tell(std::size_t done, std::size_t points, const std::string& name) {
    fmt::print(stderr, "{:3} of {}: {}\n", done + 1, points, name);
}

bool measure_cpu(const std::string& device, const MeasureRequest& request) {
    const bench::Host host = host_at(device);
    fmt::print(stderr, "cpu: {}, {} cores\n", host.name, host.cores.size());
    const StopOnSignal guard;
    const bench::HostResult result = bench::measure_host(host, {.output = request.output,
                                                                .overwrite = request.overwrite,
                                                                .quick = request.quick,
                                                                .progress = tell,
                                                                .stop = &StopOnSignal::stopped(),
                                                                .version = OCCUPIPE_VERSION});
    if (result.disturbed > 0)
        fmt::print(stderr,
                   "occupipe: the machine is busy: {} of {} points have few repetitions that had "
                   "their processors to themselves\n",
                   result.disturbed, result.points);
    return result.complete;
}

bool measure_gpu(const std::string& device, const MeasureRequest& request) {
    const auto gpu = bench::open_probed_device(device);
    fmt::print(stderr, "{}: {}, {} cores\n", gpu->facts().id, gpu->facts().name,
               gpu->facts().cores);
    if (gpu->facts().cpu)
        fmt::print(stderr, "occupipe: {} is a CPU; --device cpu measures it natively, and better\n",
                   gpu->facts().id);
    const StopOnSignal guard;
    return bench::measure_probed_device(*gpu, {.output = request.output,
                                               .overwrite = request.overwrite,
                                               .quick = request.quick,
                                               .progress = tell,
                                               .stop = &StopOnSignal::stopped(),
                                               .version = OCCUPIPE_VERSION});
}

}  // namespace

bool measure_match(const std::string& device, const MeasureRequest& request) {
    if (!request.instructions.empty() || request.pairs || !request.receipts.empty() ||
        !request.benchmark_flags.empty())
        throw InputError(
            "--match measures no instructions; leave --instructions, --pairs, --receipts and "
            "Google Benchmark's flags out");
    const bool complete =
        is_cpu(device) ? measure_cpu(device, request) : measure_gpu(device, request);
    if (!complete)
        fmt::print(stderr,
                   "interrupted: what was measured is in {}; run the same command again to go on\n",
                   bench::Journal::path_for(request.output).string());
    return complete;
}

void print_match_points(const std::string& device, bool quick) {
    if (is_cpu(device)) {
        for (const bench::HostPoint& point : bench::host_points(host_at(device), quick))
            fmt::print("{}\n", point.name);
        return;
    }
    const auto gpu = bench::open_probed_device(device);
    for (const bench::ProbePoint& point : bench::probe_points(gpu->facts(), quick))
        fmt::print("{}\n", point.name);
}

}  // namespace occupipe::cli
