// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/backend.h"
#include "bench/kernel/sweep.h"
#include "cli/options.h"
#include "core/files/files.h"
#include "core/measurement.h"

namespace occupipe::cli {

struct MeasureRequest {
    std::string instructions;  // comma-separated patterns; empty = everything
    bool quick = false;
    bool pairs = false;                    // also the pair matrix
    std::optional<double> budget_seconds;  // absent: default_budget_seconds()
    std::filesystem::path output;
    Overwrite overwrite = Overwrite::no;
    std::vector<std::string> benchmark_flags;
    double hang_seconds = 20;        // without an answer from the device
    std::filesystem::path receipts;  // folder for the kernels' receipts; empty = none
};

// What `smoke` and `characterize` have in common: which device, and where the results go.
struct DeviceRun {
    std::string device;
    std::filesystem::path kernels;
    MeasureRequest request;
    bool force = false;
};

// Adds --device, --kernels, --receipts and --force. `force`: its help text.
void add_device_options(const Command& command, DeviceRun& run, const char* force);

// The files that a run on this device reads, and the receipts' folder that it fills: for
// keep_apart() (cli/options.h).
std::vector<NamedPath> device_inputs(const std::string& device,
                                     const std::filesystem::path& kernels);
// A folder of receipts is as many outputs as it may get files; an empty path none.
NamedPath receipts_output(const std::filesystem::path& folder);

// A complete file of measurements stands for this device only if it was measured on it. InputError
// where its device, or that device's name, is another.
void require_measured_on(const MeasurementFile& file, const bench::DeviceFacts& facts);

// Writes one text per kernel; a kernel compiled again by a later session replaces its own. Empty
// for an empty path.
std::function<void(const bench::KernelPlan&, const std::string&)> receipt_writer(
    const std::filesystem::path& folder);

// What a data-centre GPU may take (bench::TimeBudget): under three minutes, or under thirty.
constexpr double default_budget_seconds(bool quick) { return quick ? 170 : 1700; }

// On stderr, what the plan leaves out: a line for each and its reason, or where they stand.
void say_skipped(const bench::Backend& backend, const bench::SweepPlan& sweep);

// Measures with progress on stderr; what `measure` and `characterize` share. Returns false when
// interrupted: what was measured is kept beside the output, and the same call goes on from there.
// Ends the process (exit_device_lost) when the device was lost and points are left.
bool measure_device(bench::Backend& backend, const MeasureRequest& request);

// The same for a plan made by other means; the request's instructions and pairs do not count.
bool measure_sweep(bench::Backend& backend, const bench::SweepPlan& sweep,
                   const MeasureRequest& request);

}  // namespace occupipe::cli
