// SPDX-License-Identifier: MIT
// What `extract`, `predict`, `compare` and `report` ask about a kernel of machine code.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "analysis/kernels_in.h"
#include "cli/execution_request.h"
#include "core/gpu_profile.h"

namespace occupipe::cli {

struct KernelsInRequest {
    ExecutionRequest execution;
    std::size_t step = 1;
    std::string sample = "8";  // or "all"
    std::size_t classes = 8;
    std::optional<int> memory_cores;  // analysis::KernelsInOptions
};

inline constexpr const char* kernels_in_heading = "Kernels in (CUDA, OpenCL C, PTX, machine code)";

// --step, --sample, --classes.
void add_extraction_options(CLI::App& command, KernelsInRequest& request,
                            const std::string& heading = "OPTIONS");

// add_launch_options() and add_extraction_options() under kernels_in_heading.
void add_kernels_in_options(CLI::App& command, KernelsInRequest& request);

// Whether the request is about a kernel of machine code: by its file's name, or as it is launched.
// Throws InputError where a launch is told of a file that is none.
bool asks_for_machine_code(const KernelsInRequest& request);

// Reads, compiles and executes it, with progress, limit and Ctrl-C. `profile`: which names
// instructions should have, and the architecture where the request tells none; may be absent.
analysis::KernelIn read_kernel_in(const KernelsInRequest& request, const LaunchPlan& plan,
                                  const GpuProfile* profile);

}  // namespace occupipe::cli
