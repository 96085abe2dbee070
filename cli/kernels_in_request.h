// SPDX-License-Identifier: MIT
// What `extract`, `predict`, `compare` and `report` ask about a kernel of machine code.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "ask/kernels_in.h"
#include "cli/execution_request.h"
#include "cli/option.h"
#include "core/gpu_profile.h"
#include "core/kernel.h"

namespace occupipe::cli {

struct KernelsInRequest {
    ExecutionRequest execution;
    std::size_t step = 1;
    std::string sample = "auto";  // or "all", or a number
    std::size_t classes = 8;
    std::optional<int> memory_cores;  // analysis::KernelsInOptions
};

inline constexpr const char* kernels_in_heading = "Kernels in (CUDA, OpenCL C, PTX, machine code)";

// --sample.
void add_extraction_options(const Command& command, KernelsInRequest& request,
                            const std::string& heading = "Options");

// add_launch_options() and add_extraction_options() under kernels_in_heading.
void add_kernels_in_options(const Command& command, KernelsInRequest& request);

// Whether a launch is told, or how it is looked at.
bool tells_kernels_in(const KernelsInRequest& request);

// Whether the request is about a kernel of machine code: by its file's name, or as it is launched.
// Throws InputError where a launch is told of a file that is none.
bool asks_for_machine_code(const KernelsInRequest& request);

// Reads, compiles and executes it, with progress, limit and Ctrl-C. `profile`: which names
// instructions should have, and the architecture where the request tells none; may be absent.
analysis::KernelIn read_kernel_in(const KernelsInRequest& request, const LaunchPlan& plan,
                                  const GpuProfile* profile);

// A kernel for the models: a graph (a file or a shipped name), or machine code.
struct KernelInput {
    std::string file;  // as in messages
    Kernel kernel;
    std::vector<std::string> assumptions;
    std::optional<analysis::KernelIn> machine_code;  // where it is that
};

// The file that is read: a graph's, or the one that holds the kernels. Throws InputError where the
// request names none.
std::string kernel_path(const KernelsInRequest& request);

// Throws InputError, and what read_kernel_in() does.
KernelInput read_kernel_input(const KernelsInRequest& request, const GpuProfile& profile);

}  // namespace occupipe::cli
