// SPDX-License-Identifier: MIT
// `measure --compile-only`, `--dump` and `--import`: kernels for a machine that need have no
// compiler, kernels for others to run, and what they measured.
#pragma once

#include <filesystem>

#include "bench/backend.h"
#include "bench/kernel/sweep.h"
#include "core/files/files.h"

namespace occupipe::cli {

struct CompileRequest {
    std::filesystem::path output;
    Overwrite overwrite = Overwrite::no;
    std::filesystem::path receipts;  // folder for the kernels' receipts; empty = none
};

// Progress on stderr. Throws std::runtime_error when interrupted.
void compile_kernels(const bench::Backend& backend, const bench::SweepPlan& sweep,
                     const CompileRequest& request);

struct DumpRequest {
    std::filesystem::path folder;
    Overwrite overwrite = Overwrite::no;
    int repetitions = 1;
    bool placement = false;
};

void dump_measurement(bench::Backend& backend, const bench::SweepPlan& sweep,
                      const DumpRequest& request);

struct ImportRequest {
    std::filesystem::path launches;  // the dump's table; context.json is beside it
    std::filesystem::path output;
    Overwrite overwrite = Overwrite::no;
    bool partial = false;  // leave out rows without cycles
};

// Writes an ordinary measurement file. Throws InputError, and then writes none.
void import_measurement(const ImportRequest& request);

}  // namespace occupipe::cli
