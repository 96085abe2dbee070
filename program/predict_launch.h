// SPDX-License-Identifier: MIT
// One launch of a running program: executed once, group by group, and predicted for several GPUs
// from what was seen of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ask/kernel_file.h"
#include "core/gpu_profile.h"
#include "extract/memory_trace.h"
#include "isa/machine/machine.h"
#include "program/journal.h"

namespace occupipe::program {

struct LaunchToPredict {
    const analysis::KernelFile* file = nullptr;
    isa::LoadedModule* module = nullptr;  // of that file, in the program's memory
    const isa::Kernel* kernel = nullptr;
    isa::LaunchShape shape;
    std::span<const std::byte> parameters;
    isa::ExecutionOptions options;       // without groups
    isa::Observer* observer = nullptr;   // watches every group; none: nullptr
    extract::EarlierReferences earlier;  // before it, and so many different bytes
    std::int64_t earlier_bytes = 0;
    bool sample = false;  // groups that nobody watches are not executed
};

struct ExecutedAndPredicted {
    isa::Execution execution;                  // of all groups, or those of the sample
    std::uint64_t groups = 0;                  // of the launch
    std::vector<PredictedLaunch> predictions;  // one for each profile
    // Lines of global memory (address / 128) that the launch refers to, ascending, and how many
    // each stands for.
    std::vector<std::uint64_t> lines;
    double lines_each = 1;
};

// Executes every group of the launch once, unless it is to be a sample, in the program's memory.
// Groups that stand for all are watched, the others run at full speed. Throws what isa::execute()
// throws; what cannot be predicted is told in its place.
ExecutedAndPredicted execute_and_predict(const LaunchToPredict& launch,
                                         const std::vector<GpuProfile>& profiles);

}  // namespace occupipe::program
