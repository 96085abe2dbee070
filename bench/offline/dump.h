// SPDX-License-Identifier: MIT
// Writes a sweep as kernels and a table of launches, for another program to run
// (docs/how-to/measure-elsewhere.md).
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "bench/backend.h"
#include "bench/kernel/sweep.h"
#include "core/files/files.h"

namespace occupipe::bench {

struct DumpOptions {
    std::filesystem::path folder;
    Overwrite overwrite = Overwrite::no;
    int repetitions = 1;
    bool placement = false;  // kernels read on which core and in which slot each warp runs
    std::function<void(std::size_t done, std::size_t total)> progress;  // kernels; may be empty
};

struct DumpResult {
    std::size_t kernels = 0;
    std::size_t launches = 0;             // repetitions counted
    std::vector<SkippedSubject> skipped;  // kernels refused, shapes that do not fit
};

// Throws InputError if the backend cannot describe what it would run, when the folder has launches
// already, or when nothing can be dumped.
DumpResult dump_sweep(Backend& backend, const SweepPlan& sweep, const DumpOptions& options);

}  // namespace occupipe::bench
