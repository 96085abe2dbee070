// SPDX-License-Identifier: MIT
// The oracle of the executor: the same .cu text, compiled for the host, run over a launch file.
//
//   const LaunchPlan plan = read_launches(kernels_folder() / "saxpy.yaml");
//   const std::vector<Buffer> after = run_on_cpu(plan);
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/launch_plan.h"
#include "tests/kernels/host/fibers.h"
#include "tests/kernels/plan_target.h"

namespace occupipe::test {

// All buffers after the last step, in the file's order. Throws InputError where the launches do
// not fit the kernels, host::KernelFault where a kernel does what CUDA does not define (a write
// outside of a buffer among it, as far as it hits the 4 KiB beside it). For one thread at a time.
std::vector<Buffer> run_on_cpu(const LaunchPlan& plan, host::Order order = host::Order::forward);

// A kernel compiled for the host; the build makes the table from the launch files.
struct HostKernel {
    std::string_view source;  // "saxpy.cu"
    std::string_view name;
    void (*run)(dim3 grid, dim3 block, std::span<const Argument> arguments, host::Order order);
};
std::span<const HostKernel> host_kernels();

// A variable of a module on the host; it keeps its value between runs.
struct HostSymbol {
    std::string_view source;
    std::string_view name;
    std::span<std::byte> (*content)();
};
std::span<const HostSymbol> host_symbols();

std::filesystem::path kernels_folder();             // tests/kernels of the source tree
std::vector<std::filesystem::path> launch_files();  // in it, sorted

}  // namespace occupipe::test
