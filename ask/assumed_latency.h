// SPDX-License-Identifier: MIT
// Instructions that a profile lacks, with the published latency of their class: `predict
// --assume-latency`. Never unasked, and every value with its source.
#pragma once

#include <string>
#include <vector>

#include "core/gpu_profile.h"
#include "core/kernel.h"

namespace occupipe::analysis {

inline constexpr const char* assume_latency_help =
    "Give instructions that the profile lacks the published numbers of their class:\n"
    "fma, imad, alu, half or all; may be repeated. Known for few architectures";

// Adds each op of the kernel that the profile lacks and that belongs to one of these classes: Λ of
// the class on the profile's compute capability, λ of the class as NVIDIA states its throughput, in
// the subsystem of the class's instructions in the profile, else in one of its own. Returns a
// sentence with the sources per op. Throws InputError where a class is not known at all, or not for
// this compute capability.
std::vector<std::string> assume_latencies(const std::vector<std::string>& classes,
                                          const Kernel& kernel, GpuProfile& profile);

}  // namespace occupipe::analysis
