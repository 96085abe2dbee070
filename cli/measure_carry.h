// SPDX-License-Identifier: MIT
// `measure --dump` and `measure --import`: kernels for others to run, and what they measured.
#pragma once

#include <filesystem>

#include "bench/backend.h"
#include "bench/kernel/sweep.h"
#include "core/files/files.h"

namespace occupipe::cli {

struct DumpRequest {
    std::filesystem::path folder;
    Overwrite overwrite = Overwrite::no;
    int repetitions = 1;
};

void dump_measurement(bench::Backend& backend, const bench::SweepPlan& sweep,
                      const DumpRequest& request);

struct ImportRequest {
    std::filesystem::path launches;  // the dump's table; context.json lies beside it
    std::filesystem::path output;
    Overwrite overwrite = Overwrite::no;
    bool partial = false;  // leave out rows without cycles
};

// Writes an ordinary measurement file. Throws InputError, and then writes none.
void import_measurement(const ImportRequest& request);

}  // namespace occupipe::cli
