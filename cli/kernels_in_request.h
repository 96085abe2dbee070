// SPDX-License-Identifier: MIT
// What `extract`, `predict`, `compare` and `report` ask about a kernel of machine code.
#pragma once

#include <string>

#include "ask/kernels_in.h"
#include "cli/execution_request.h"
#include "cli/option.h"
#include "core/gpu_profile.h"

namespace occupipe::cli {

struct KernelsInRequest : analysis::Extraction {
    ExecutionRequest execution;

    analysis::KernelSource source() const { return {execution, *this}; }
};

inline constexpr const char* kernels_in_heading = "Kernels in (CUDA, OpenCL C, PTX, machine code)";

// --sample.
void add_extraction_options(const Command& command, KernelsInRequest& request,
                            const std::string& heading = "Options");

// add_launch_options() and add_extraction_options() under kernels_in_heading.
void add_kernels_in_options(const Command& command, KernelsInRequest& request);

// Executes with progress, limit and Ctrl-C; what is to be said of it goes to stderr. `request` must
// outlive it.
analysis::Reading reading_of(const ExecutionRequest& request);

// Reads, compiles and executes it so. `profile`: which names instructions should have, and the
// architecture where the request has none; may be absent.
analysis::KernelIn read_kernel_in(const KernelsInRequest& request, const LaunchPlan& plan,
                                  const GpuProfile* profile);

}  // namespace occupipe::cli
