// SPDX-License-Identifier: MIT
// `measure --compile-only`: kernels for a machine that need have no compiler.
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

}  // namespace occupipe::cli
