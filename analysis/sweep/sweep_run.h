// SPDX-License-Identifier: MIT
// A sweep's table as a file that grows row by row: on all cores, resumed where it was ended, in
// shards that are joined again.
//
//   run_sweep(sweep, {.output = "rows.csv", .shard = {2, 8}});   // rows.csv, rows.csv.sweep.json
//   join_shards({"1.csv", "2.csv"}, "all.csv", false);
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "analysis/sweep/sweep.h"
#include "analysis/sweep/sweep_manifest.h"

namespace occupipe::analysis {

struct SweepProgress {
    std::int64_t done = 0;  // rows of the shard that are in the file
    std::int64_t rows = 0;  // of the shard
    std::int64_t resumed_at = 0;
    double seconds = 0;  // since this run began
};

struct SweepRun {
    std::filesystem::path output;
    Shard shard;
    unsigned threads = 0;  // 0: one per core
    bool force = false;    // what another sweep left is replaced
    const std::atomic<bool>* stop = nullptr;
    std::function<void(const SweepProgress&)> progress;  // called often, one at a time
    std::function<void(const std::string&)> warn;        // told each warning of `predict` once
};

struct SweepOutcome {
    std::int64_t rows = 0;     // of the shard, all of them in the file
    std::int64_t resumed = 0;  // of these, those that were there before
    std::int64_t refused = 0;  // of all rows in the file
};

// Ends with a file that is the same bytes however many threads made it and however often it was
// ended before. Beside it stands OUTPUT.sweep.json, which says what the rows were made of. Throws
// InputError where the file is another sweep's, and Interrupted.
SweepOutcome run_sweep(const Sweep& sweep, const SweepRun& run);

// Joins files of one sweep that are complete and together have every row once; returns the rows.
// Throws InputError that says which shard is missing or has no end.
std::int64_t join_shards(const std::vector<std::filesystem::path>& shards,
                         const std::filesystem::path& output, bool force);

}  // namespace occupipe::analysis
