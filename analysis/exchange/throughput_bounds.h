// SPDX-License-Identifier: MIT
// Throughputs of whole devices as upper bounds of λ: they say no latency, and not in which shape
// the kernel ran.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/exchange/imported.h"

namespace occupipe::analysis {

struct Throughput {
    std::string_view instruction;  // "fma.f32": one of those that throughput_bounds.cpp lists
    double per_second = 0;         // operations, of loads bytes
    std::string reference;         // "clpeak, Single-precision compute: float 6660.58 GFLOPS"
};

// cores, warp_size and clock_hz of the profile, from the hints or, cores, as the file says.
// Throws InputError naming the one that is needed.
void set_rate_facts(GpuProfile& profile, const InputText& file, const DeviceHints& hints,
                    std::optional<int> cores_of_file);

// λ at most, of a device with these facts, for `per_lane` operations or bytes of an instruction;
// absent where that were more warps a cycle than a core starts, which is told as a warning.
std::optional<Estimate> cpi_bound(const GpuProfile& device, const std::string& instruction,
                                  double per_lane, double per_second, const char* why,
                                  std::vector<std::string>& notes);

// An instruction for each that has a throughput, with the greatest that is possible, and the notes
// that all such profiles have.
void add_bounds(ImportedProfile& out, const std::vector<Throughput>& throughputs);

// `origin`, and the hash of the file.
void add_origin(GpuProfile& profile, const InputText& file, const std::string& origin);

}  // namespace occupipe::analysis
