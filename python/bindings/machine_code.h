// SPDX-License-Identifier: MIT
// Which launch of which machine code, as Python asks for it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ask/kernel_file.h"
#include "ask/kernels_in.h"
#include "core/gpu_profile.h"
#include "core/kernel_parameters.h"
#include "core/launch_plan.h"
#include "python/bindings/value.h"

namespace occupipe::python {

struct CodeRequest {
    std::string file;                     // empty: the launch file's source
    std::optional<std::string> launches;  // a launch file; absent: grid, block, arguments
    std::string architecture;             // "sm_75"; empty: the plan's, or the profile's
    std::vector<std::string> compiler_options;
    std::string kernel;
    std::optional<std::array<std::uint32_t, 3>> grid, block;
    std::uint32_t shared_bytes = 0;
    std::string arguments;
    std::size_t step = 1;
    std::optional<std::uint64_t> sample;
    bool all_groups = false;
    std::size_t classes = 8;
    std::optional<int> cores;
    std::optional<GpuProfile> profile;
    int threads = 0;
    std::uint64_t step_budget = 0;  // warp-instructions; 0: no limit
};

// What was extracted, with the file that it came from.
struct Extraction {
    std::shared_ptr<const analysis::KernelIn> in;
    std::string file;
    std::string note;  // of the compilation
};

// Both throw InputError; the second what a compiler does, too.
LaunchPlan plan_of(const CodeRequest& request);
analysis::KernelFile file_of(const CodeRequest& request, const LaunchPlan& plan);

// Executes the whole plan.
std::vector<KernelParameters> executed_parameters(const CodeRequest& request);

}  // namespace occupipe::python
