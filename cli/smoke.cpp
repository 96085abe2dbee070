// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

#include "analysis/device/open_device.h"
#include "bench/kernel/sweep.h"
#include "cli/commands.h"
#include "cli/measure_device.h"
#include "cli/options.h"
#include "cli/reported.h"
#include "core/error.h"
#include "core/files/files.h"
#include "report/text/smoke_verdict.h"

namespace occupipe::cli {
namespace {

// One minute, whatever the device.
constexpr double budget_seconds = 30;

// One warp alone and as many as fit (CPUs: chains), at three depths each.
bench::SweepPlan smoke_plan(const bench::Backend& backend) {
    bench::SweepRequest request{.quick = true};
    for (const std::string_view name : analysis::smoke_instructions()) {
        const bool known = bench::find_row(backend.rows(), name) != nullptr;
        if (known) request.patterns.emplace_back(name);
    }
    // A model may have none of these.
    for (const bench::Row& row : backend.rows().first(std::min<std::size_t>(
             request.patterns.empty() ? analysis::smoke_instructions().size() : 0,
             backend.rows().size()))) {
        request.patterns.emplace_back(row.id);
    }
    bench::SweepPlan sweep = bench::make_sweep(backend, request);
    const auto size = [](const bench::PlannedPoint& point) {
        return std::pair(point.shape.warps(), point.shape.chains);
    };
    std::map<std::string, std::pair<std::pair<int, int>, std::pair<int, int>>> ends;
    for (const bench::PlannedPoint& point : sweep.points) {
        const auto [at, is_new] = ends.try_emplace(point.plan.subject(), size(point), size(point));
        at->second.first = std::min(at->second.first, size(point));
        at->second.second = std::max(at->second.second, size(point));
    }
    std::erase_if(sweep.points, [&](const bench::PlannedPoint& point) {
        const auto& [least, most] = ends.at(point.plan.subject());
        return point.plan.checkpointed || (size(point) != least && size(point) != most);
    });
    return sweep;
}

void smoke(DeviceRun& arguments) {
    const std::filesystem::path& output = arguments.request.output;
    keep_apart(device_inputs(arguments.device, arguments.kernels),
               {{"--output", output}, receipts_output(arguments.request.receipts)});
    if (std::filesystem::exists(output) && !arguments.force) {
        fmt::print(stderr, "{} exists: judged again without measuring (--force measures again)\n",
                   output.string());
    } else {
        const auto backend = analysis::open_named_device(arguments.device, arguments.kernels);
        arguments.request.overwrite = Overwrite::yes;
        arguments.request.budget_seconds = budget_seconds;
        if (!measure_sweep(*backend, smoke_plan(*backend), arguments.request)) {
            throw std::runtime_error("interrupted");
        }
    }
    const analysis::SmokeVerdict verdict = analysis::judge_smoke(read_measurements(output));
    fmt::print("{}", report::format_smoke(verdict));
    if (!verdict.faults.empty()) throw Reported(1);
}

}  // namespace

void add_smoke(const Command& app) {
    auto arguments = std::make_shared<DeviceRun>();
    const Command command = app.subcommand(
        "smoke", "Measure some twenty instructions in under a minute, and say whether to go on");
    add_device_options(command, *arguments, "Replace an existing file");
    command.add_option("-o,--output", arguments->request.output, "FILE.json to write")
        .required()
        .type_name("FILE.json");
    add_help_end(
        command,
        {.text =
             "Output: FILE.json, and a table with the verdict on stdout: GO (exit code 0) or NO-GO "
             "(1).\n"
             "Numbers are compared with those published for this GPU; where there are none, only\n"
             "what no hardware can do is a fault.",
         .exit_codes = {exit_nothing_to_run_on, exit_device_lost},
         .examples = "occupipe measure --smoke -o smoke.json"});
    command.callback([arguments] { smoke(*arguments); });
}

}  // namespace occupipe::cli
