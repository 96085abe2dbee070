// SPDX-License-Identifier: MIT
// Where a kernel comes from: a dependence graph (a file or a shipped name), or code and how it is
// launched. The one reading of both.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ask/kernel_file.h"
#include "ask/note.h"
#include "core/gpu_profile.h"
#include "core/kernel.h"
#include "core/launch_plan.h"
#include "extract/run_plan.h"

namespace occupipe::analysis {

struct KernelIn;
class KnownReuse;  // of its launches (ask/answer.cpp)

// Code, and how it is launched.
struct CodeSource {
    std::string kernels;  // .cu, .cl, .ptx, .cubin; empty: the launch file's source
    std::string launch;   // a launch file
    std::string architecture;
    std::vector<std::string> compiler_options;
    std::string clang;  // empty: searched
    std::string kernel;
    std::string grid, block;
    std::uint32_t shared_bytes = 0;
    // `launch` holds the launch, and grid, block and shared memory that are given here replace
    // those of its launches of the kernel.
    bool changes_launches = false;
    std::optional<std::uint32_t> changed_shared_bytes;
    std::string arguments;

    bool operator==(const CodeSource&) const = default;
};

// Which launch, and what of it stands for all.
struct Extraction {
    std::size_t step = 1;         // of the kernel's launches in the plan, from 1 on
    std::string sample = "auto";  // or "all", or a number
    std::size_t classes = 8;
    std::optional<int> memory_cores;  // KernelsInOptions

    bool operator==(const Extraction&) const = default;
};

struct KernelSource {
    CodeSource code;  // `kernels` alone: a graph
    Extraction extraction;

    bool operator==(const KernelSource&) const = default;
};

// Whether a launch is described.
bool describes_launch(const CodeSource& source);
bool describes_launch(const KernelSource& source);

// Whether it is a kernel of machine code: by its file's name, or as it is launched. Throws
// InputError where a launch is described of a file that is none.
bool is_code(const KernelSource& source);

// The launch file, or one launch as it is described. Throws InputError.
LaunchPlan plan_of(const CodeSource& source);

// The file that holds the kernels. Throws InputError where none is named.
std::string kernels_of(const CodeSource& source, const LaunchPlan& plan);

// "sm_75": as asked for, else the plan's, else, for what has to be compiled (.cu, .cl), that of the
// profile, where there is one.
std::string architecture_for(const std::string& asked, const LaunchPlan& plan,
                             const std::string& file, const GpuProfile* profile);

// With the kernels that the plan launches, its own compiler options, and the profile's architecture
// where the file leaves a choice.
CompileRequest compile_request(const LaunchPlan& plan, const GpuProfile* profile);

// Reads it, and compiles it where that is needed.
KernelFile read_kernels(const CodeSource& source, const LaunchPlan& plan, const GpuProfile* profile,
                        const CompileEffort& effort = {}, CodeCache* cache = nullptr);

// The file that is read: a graph's, or the one that holds the kernels.
std::string source_path(const KernelSource& source);

// How much of kernels whose groups are long is looked at.
enum class Effort : std::uint8_t {
    full,
    hurried,  // fewer groups and cache lines
    coarse,   // a few groups alone
};

// How code is executed, and who is told what meanwhile; each may be absent.
struct Reading {
    // Before anything is compiled or executed: the file that is read.
    std::function<void(const std::string& path)> found = {};
    std::function<std::vector<extract::LaunchResult>(extract::PlanRun& run,
                                                     extract::PlanOptions options)>
        execute = {};
    // KernelsInOptions
    extract::BufferStore* buffers = nullptr;
    Effort effort = Effort::full;
    std::function<void(const std::string& note)> compiled = {};
    std::function<void(const std::string& warning)> warn = {};
};

// A kernel as predictions take it.
struct LoadedKernel {
    std::string file;  // as in messages
    std::shared_ptr<const Kernel> kernel;
    std::shared_ptr<const KernelIn> in = {};  // where it is machine code
    Notes notes = {};
    std::shared_ptr<KnownReuse> reuse = {};
};
LoadedKernel loaded_kernel(std::string file, Kernel kernel);
LoadedKernel loaded_kernel(std::string file, KernelIn in);
LoadedKernel loaded_kernel(std::string file, const std::shared_ptr<const KernelIn>& in);

// Executes code with the names and the architecture of the profile, which may be absent. Throws
// InputError, DeviceError, and what reading.execute throws.
KernelIn read_code(const CodeSource& source, const Extraction& extraction, const LaunchPlan& plan,
                   const GpuProfile* profile, const Reading& reading);
// The same of kernels that were read already.
KernelIn execute_code(const KernelFile& file, const std::string& kernel,
                      const Extraction& extraction, const LaunchPlan& plan,
                      const GpuProfile* profile, const Reading& reading);

// The whole source. `memory`: whether code records what it asks of the memory.
LoadedKernel read_source(const KernelSource& source, const GpuProfile& profile, bool memory,
                         const Reading& reading);

}  // namespace occupipe::analysis
