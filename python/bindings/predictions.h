// SPDX-License-Identifier: MIT
// A kernel on a profile, made ready for any launch and model, as `occupipe predict` does it:
// replacements for instructions that the profile lacks, prices of memory, what is assumed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ask/answer.h"
#include "core/gpu_profile.h"
#include "core/kernel.h"
#include "python/bindings/value.h"
#include "sim/models/model.h"

namespace occupipe::python {

// What the caller may choose; the words of `occupipe predict`.
struct Asked {
    std::optional<std::string> policy, select, order;
    bool stall_counts = false;
    bool estimate = false;
    std::optional<std::int64_t> max_simulated;
    MemoryBehaviour memory;
    std::vector<std::string> uses;             // "OP=INSTRUCTION"
    std::vector<std::string> settings;         // "fma.f32.latency=8"
    std::vector<std::string> assumed_classes;  // "fma", "imad", …
    std::string memory_pricing = "per-access";
    std::optional<double> l1_bytes, l2_bytes;
};

// Throws InputError like `occupipe predict`.
analysis::Ready prepare(analysis::LoadedKernel kernel, const GpuProfile& profile,
                        const Asked& asked);

// The launch, and what was changed of the kernel's own to make it fit.
std::pair<Launch, analysis::Notes> launch_of(const analysis::Ready& ready,
                                             const std::optional<Launch>& wanted);

}  // namespace occupipe::python
