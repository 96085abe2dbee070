// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include "automatch/cli/commands.h"
#include "automatch/cpu/host.h"
#include "automatch/cpu/measure_host.h"
#include "automatch/gpu/measure_device.h"
#include "bench/harness/journal.h"
#include "cli/console.h"
#include "cli/options.h"
#include "core/files/files.h"

namespace occupipe::automatch {
namespace {

struct Request {
    std::string device;
    std::filesystem::path output;
    std::string nvrtc;
    bool quick = false;
    bool dry_run = false;
    bool force = false;

    Overwrite overwrite() const { return force ? Overwrite::yes : Overwrite::no; }
};

bool is_cpu(const std::string& device) {
    return device.empty() || device == "cpu" || device.starts_with("cpu:");
}
Host host_at(const std::string& device) { return host_of(device.empty() ? "cpu" : device); }

void tell(std::size_t done, std::size_t points, const std::string& name) {
    fmt::print(stderr, "{:3} of {}: {}\n", done + 1, points, name);
}

bool measure_cpu(const Request& request) {
    const Host host = host_at(request.device);
    fmt::print(stderr, "cpu: {}, {} cores\n", host.name, host.cores.size());
    const cli::StopOnSignal guard;
    const HostResult result = measure_host(host, {.output = request.output,
                                                  .overwrite = request.overwrite(),
                                                  .quick = request.quick,
                                                  .progress = tell,
                                                  .stop = &cli::StopOnSignal::stopped(),
                                                  .version = OCCUPIPE_VERSION});
    if (result.disturbed > 0)
        fmt::print(stderr,
                   "automatch: the machine is busy: {} of {} points have few repetitions that had "
                   "their processors to themselves\n",
                   result.disturbed, result.points);
    return result.complete;
}

bool measure_gpu(const Request& request) {
    const auto gpu = open_probed_device(request.device);
    fmt::print(stderr, "{}: {}, {} cores\n", gpu->facts().id, gpu->facts().name,
               gpu->facts().cores);
    if (gpu->facts().cpu)
        fmt::print(stderr,
                   "automatch: {} is a CPU; --device cpu measures it natively, and better\n",
                   gpu->facts().id);
    const cli::StopOnSignal guard;
    return measure_probed_device(*gpu, {.output = request.output,
                                        .overwrite = request.overwrite(),
                                        .quick = request.quick,
                                        .progress = tell,
                                        .stop = &cli::StopOnSignal::stopped(),
                                        .version = OCCUPIPE_VERSION});
}

void measure(const Request& request) {
    const bool complete = is_cpu(request.device) ? measure_cpu(request) : measure_gpu(request);
    if (complete) return;
    fmt::print(stderr,
               "interrupted: what was measured is in {}; run the same command again to go on\n",
               bench::Journal::path_for(request.output).string());
    throw std::runtime_error("interrupted");
}

void print_points(const Request& request) {
    if (is_cpu(request.device)) {
        for (const HostPoint& point : host_points(host_at(request.device), request.quick))
            fmt::print("{}\n", point.name);
        return;
    }
    const auto gpu = open_probed_device(request.device);
    for (const ProbePoint& point : probe_points(gpu->facts(), request.quick))
        fmt::print("{}\n", point.name);
}

}  // namespace

void add_measure(const cli::Command& app) {
    const auto request = std::make_shared<Request>();
    const cli::Command command =
        app.subcommand("measure", "Measure what AutoMatch asks of a CPU or a GPU");
    command
        .add_option("--device", request->device,
                    "This computer's CPU (cpu; cpu:0-3: these, cpu:1/1: this one without\n"
                    "vectors; the default) or a GPU (opencl:P.D, cuda:N)")
        .type_name("DEVICE");
    command.add_flag("--quick", request->quick, "Fewer working sets and repetitions");
    command.add_flag("--dry-run", request->dry_run, "Print the points that would be measured");
    command
        .add_option("--nvrtc", request->nvrtc,
                    "NVRTC to compile CUDA kernels with: a path (default: what OCCUPIPE_NVRTC\n"
                    "names, else what is found; docs/background/cuda.md)")
        .type_name("FILE");
    const cli::Option output =
        command.add_option("-o,--output", request->output, "FILE.json to write").type_name("FILE");
    command.add_flag("--force", request->force, "Replace an existing file");
    cli::add_help_end(
        command,
        {.text =
             "Output: measurements (Google Benchmark's JSON) of peak, bandwidths, latencies and\n"
             "synchronisation, of which 'automatch fit' makes a profile. Ctrl-C leaves what was\n"
             "measured in FILE.json.partial: run the same command again to go on.",
         .exit_codes = {cli::exit_nothing_to_run_on},
         .examples = "automatch measure --device cpu -o cpu.json\n"
                     "automatch measure --device cuda:0 -o gpu.json"});
    command.callback([request, output] {
        if (!request->nvrtc.empty()) ::setenv("OCCUPIPE_NVRTC", request->nvrtc.c_str(), 1);
        if (request->dry_run) return print_points(*request);
        if (!output.given()) throw cli::MissingOption("--output");
        measure(*request);
    });
}

}  // namespace occupipe::automatch
