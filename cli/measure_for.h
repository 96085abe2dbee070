// SPDX-License-Identifier: MIT
// `measure --for KERNEL --profile PROFILE`: the rows that a prediction of the kernel needs and the
// profile lacks.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bench/backend.h"
#include "bench/kernel/sweep.h"
#include "core/files/files.h"
#include "core/gpu_profile.h"
#include "core/kernel.h"

namespace occupipe::cli {

struct MissingRow {
    std::string op;
    std::string why_not;  // this device measures it where empty
};

// In the kernel's order; what the profile's other entries stand in for is not missing.
std::vector<MissingRow> missing_rows(const bench::Backend& backend, const Kernel& kernel,
                                     const GpuProfile& profile, bool quick);

// Fits the measurement, adds what it has to the profile and writes the result. Prints λ and Λ of
// what was added, and what is still missing for the kernel; returns whether nothing is.
bool extend_profile_file(const Kernel& kernel, const GpuProfile& profile,
                         const std::filesystem::path& measurement,
                         const std::filesystem::path& output, Overwrite overwrite);

}  // namespace occupipe::cli
