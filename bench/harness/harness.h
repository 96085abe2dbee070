// SPDX-License-Identifier: MIT
// Runs a sweep under Google Benchmark and writes its JSON (docs/reference/file-formats/), point by
// point durable, so that an interrupted run can go on.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/backend.h"
#include "bench/harness/stopping.h"
#include "bench/kernel/sweep.h"
#include "core/files/files.h"

namespace occupipe::bench {

struct Progress {
    std::size_t done = 0;  // points, those of earlier sessions included
    std::size_t total = 0;
    double elapsed_seconds = 0;    // this session
    double remaining_seconds = 0;  // estimate; meaningful once a few points are done
    std::string point;             // the point just finished
    std::string error;             // why it failed; empty when it did not
};

struct HarnessOptions {
    std::filesystem::path output;
    Overwrite overwrite = Overwrite::no;
    std::vector<std::string> benchmark_flags;  // Google Benchmark's own, e.g. --benchmark_filter=…
    std::map<std::string, std::string> context;  // added to the file's context
    // Once, when everything was accepted and measuring begins; may be empty.
    std::function<void(std::size_t points, std::size_t resumed)> begin;
    std::function<void(const Progress&)> progress;  // after each point; may be empty
    // Each kernel's receipt, or why there is none, when it was compiled; may be empty.
    std::function<void(const KernelPlan&, const std::string& text)> receipt;
    // Absent: sweep.repetitions at least, three times as many at most.
    std::optional<StoppingRule> stopping;
    std::optional<double> budget_seconds;     // see TimeBudget; of this session
    const std::atomic<bool>* stop = nullptr;  // set: finish the repetition under way and return
    double hang_seconds = 20;                 // a device that does not answer for so long hangs
    // For calls to a hanging device that never come back: called from a thread of its own when the
    // journal holds what it must. Has to end the process. Empty: such a call is waited for.
    std::function<void(const std::string& reason)> leave;
    std::function<void(const std::string&)> note;  // what the user should know; may be empty
};

struct HarnessResult {
    bool complete = false;  // false: stopped; the journal beside the output holds what was measured
    std::size_t points = 0;   // in the file, all sessions
    std::size_t failed = 0;   // points of this session with an error row
    std::size_t resumed = 0;  // points that earlier sessions had finished
    // Why this process can do nothing more with the device. The point under way has an error row,
    // or will be tried once more; a new process may go on.
    std::optional<std::string> lost;
};

// Throws InputError when the output exists and may not be overwritten, a journal beside it belongs
// to another measurement, or a flag is not Google Benchmark's; std::runtime_error when the journal
// cannot be written. A point that fails is a row with error_occurred, not an exception; a device
// that is lost ends the sweep, and what is left of it stays unmeasured. Google Benchmark keeps
// global state: one call at a time.
HarnessResult run_sweep(Backend& backend, const SweepPlan& sweep, const HarnessOptions& options);

// The device's facts as a measurement file's context holds them.
std::map<std::string, std::string> device_context(const DeviceFacts& facts);

}  // namespace occupipe::bench
