// SPDX-License-Identifier: MIT
// Compiles every kernel of a sweep where there is NVRTC but no GPU, for `measure --kernels`.
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "bench/backend.h"
#include "bench/kernel/sweep.h"
#include "core/files/files.h"

namespace occupipe::bench {

struct CompileAheadOptions {
    std::filesystem::path output;  // a tar archive
    Overwrite overwrite = Overwrite::no;
    std::string version;  // of this program
    unsigned threads = 1;
    std::function<void(std::size_t done, std::size_t total)> progress;  // may be empty
    // Each kernel's receipt, or why there is none; may be empty.
    std::function<void(const KernelPlan&, const std::string& text)> receipt;
    const std::atomic<bool>* stop = nullptr;  // set: finish the kernels under way and return
};

struct CompileAheadResult {
    bool complete = false;  // false: stopped; OUTPUT.partial holds what was compiled
    std::size_t kernels = 0;
    std::size_t resumed = 0;              // of these, compiled by an earlier call
    std::vector<SkippedSubject> refused;  // no machine code, or not what the row says
};

// The sweep's different kernels.
std::vector<KernelPlan> kernels_of(const SweepPlan& sweep);

// `facts`: of the architecture (open_architecture); its tables' sizes are part of the kernels.
// Throws InputError when the output exists and may not be overwritten, or what an earlier call left
// belongs to other kernels; DeviceError when there is no NVRTC.
CompileAheadResult compile_ahead(const DeviceFacts& facts, const SweepPlan& sweep,
                                 const CompileAheadOptions& options);

}  // namespace occupipe::bench
