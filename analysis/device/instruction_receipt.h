// SPDX-License-Identifier: MIT
// Receipts as `explain` shows them: counted when asked for, if a compiler is available.
#pragma once

#include <string>
#include <string_view>

#include "bench/backend.h"

namespace occupipe::analysis {

// A compiler cache for this program alone, so that it finds there what it has compiled itself.
class ScratchCache {
public:
    ScratchCache();
    ~ScratchCache();
    ScratchCache(const ScratchCache&) = delete;
    ScratchCache& operator=(const ScratchCache&) = delete;
};

// The row's step with the chain's value named x.
std::string step_of(std::string_view step);

// Throws InputError unless it reads sm_NN.
void check_architecture(const std::string& architecture);

// Compiles the row for one chain and returns what was counted, or why nothing could be; with the
// kernel source if wanted.
std::string cuda_receipt(const bench::Row& row, const std::string& architecture, bool source);

// The same on an OpenCL device; machine code of PoCL's CPU devices only. Runs the kernel once.
std::string opencl_receipt(bench::Backend& backend, const bench::Row& row, bool source);

}  // namespace occupipe::analysis
